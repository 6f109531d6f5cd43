#include "gguf/diagnosis.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "gguf/printable.hpp"
#include "tensor/format.hpp"

namespace luce::gguf {
namespace {

using namespace std::literals;

struct Lookalike {
  std::string_view begins;
  size_t at;
  std::string_view meaning;
};

constexpr std::string_view kOlderModel = "a model of an older format of llama.cpp; convert the original model again";

constexpr auto kLookalikes = std::to_array<Lookalike>({
    {"<!"sv, 0, "a web page; the download probably needs a login or another address"},
    {"<html"sv, 0, "a web page; the download probably needs a login or another address"},
    {"version "sv, 0, "a Git LFS pointer; fetch the real file with git lfs pull"},
    {"{"sv, 8, "a safetensors file; convert it to GGUF"},
    {"{"sv, 0, "JSON; perhaps an error message in place of the download"},
    {"PK\x03\x04"sv, 0, "a ZIP archive or PyTorch checkpoint; unpack or convert it to GGUF"},
    {"\x1f\x8b"sv, 0, "a gzip archive; unpack it first"},
    {"\x28\xb5\x2f\xfd"sv, 0, "a zstd archive; unpack it first"},
    {"\xfd"
     "7zXZ"sv,
     0, "an xz archive; unpack it first"},
    {"7z\xbc\xaf"sv, 0, "a 7z archive; unpack it first"},
    {"tjgg"sv, 0, kOlderModel},
    {"lmgg"sv, 0, kOlderModel},
    {"fmgg"sv, 0, kOlderModel},
    {"algg"sv, 0, kOlderModel},
    {"FUGG"sv, 0, "a GGUF file with its bytes in big-endian order; convert it to little-endian"},
});

std::string_view meaning_of(std::string_view first_bytes) {
  for (const Lookalike& known : kLookalikes) {
    if (first_bytes.size() > known.at && first_bytes.substr(known.at).starts_with(known.begins)) return known.meaning;
  }
  const bool blank = std::ranges::all_of(first_bytes, [](char byte) { return byte == 0; });
  return blank ? "an incomplete download, as it is filled with zeros" : "another kind of file, or a damaged one";
}

bool was_removed(uint32_t type_id) {
  constexpr auto kRemoved = std::to_array<uint32_t>({4, 5, 31, 32, 33, 36, 37, 38});
  return std::ranges::find(kRemoved, type_id) != kRemoved.end();
}

std::string known_formats() {
  std::string names;
  for (const tensor::FormatInfo& format : tensor::all_formats()) {
    if (!names.empty()) names += ' ';
    names += format.name;
  }
  return names;
}

}  // namespace

void fail_not_gguf(const std::string& name, std::string_view first_bytes, uint64_t size_bytes) {
  if (size_bytes == 0) {
    fail(ErrorKind::invalid_file, "{}: not a GGUF file: it is empty (0 bytes); copy or download it again", name);
  }
  constexpr size_t kShownBytes = 16;
  fail(ErrorKind::invalid_file, "{}: not a GGUF file: it begins with '{}' where 'GGUF' was expected; it may be {}",
       name, printable(first_bytes, kShownBytes), meaning_of(first_bytes));
}

void fail_version(const std::string& name, uint32_t version) {
  if (version != 0 && (version & 0xffff) == 0) {
    fail(ErrorKind::unsupported,
         "{}: its numbers are in big-endian order, only little-endian files are supported; convert it for this kind of "
         "machine",
         name);
  }
  if (version < 2) {
    fail(ErrorKind::unsupported, "{}: GGUF version {} is too old, 2 and 3 are supported; convert the model again", name,
         version);
  }
  fail(ErrorKind::unsupported, "{}: GGUF version {} is not known, 2 and 3 are supported; a newer program may read it",
       name, version);
}

void fail_tensor_type(const std::string& name, std::string_view tensor, uint32_t type_id) {
  fail(ErrorKind::unsupported, "{}: tensor '{}' has type {}, which is unsupported ({}); supported are {}", name,
       printable(tensor), type_id, was_removed(type_id) ? "it was removed from the format" : "it is not known here",
       known_formats());
}

}  // namespace luce::gguf
