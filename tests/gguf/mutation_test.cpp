// Damaged files: 5,000 seeded changes of real and handmade files. Whatever they hold, the reader must answer with a
// file or an error, soon, and without setting aside more memory than the file could fill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "gguf/allocation_counter.hpp"
#include "gguf/byte_buffer.hpp"
#include "gguf/metadata_builder.hpp"
#include "gguf/writer.hpp"
#include "support/gguf_exercise.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::gguf {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

/// A file in memory with a path, so that 5,000 of them do not wear the disk.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("mutated", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void replace(const std::string& content) {
    if (::ftruncate(descriptor_, static_cast<off_t>(content.size())) != 0) throw std::runtime_error("ftruncate");
    size_t written = 0;
    while (written < content.size()) {
      const ssize_t now =
          ::pwrite(descriptor_, content.data() + written, content.size() - written, static_cast<off_t>(written));
      if (now <= 0) throw std::runtime_error("pwrite");
      written += static_cast<size_t>(now);
    }
  }

 private:
  int descriptor_;
};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A small file with every type of metadata, arrays in arrays, and tensors of many formats.
std::string handmade(uint32_t version, uint32_t alignment_bytes) {
  MetadataBuilder metadata;
  metadata.set_string("general.architecture", "handmade");
  metadata.set_u32("general.alignment", alignment_bytes);
  metadata.set_u8("a.u8", 1);
  metadata.set_i64("a.i64", -1);
  metadata.set_f64("a.f64", 0.5);
  metadata.set_bool("a.bool", true);
  metadata.set_strings("a.strings", std::vector<std::string>{"one", "two", ""});
  metadata.set_f32s("a.f32s", std::vector<float>{1.0F, 2.0F});
  ByteBuffer nested;
  nested.number<uint32_t>(9);
  nested.number<uint64_t>(2);
  for (int row = 0; row < 2; ++row) {
    nested.number<uint32_t>(7);
    nested.number<uint64_t>(3);
    for (const bool flag : {true, false, true}) nested.number<uint8_t>(flag ? 1 : 0);
  }
  metadata.set_raw("a.nested", 9, nested.take());
  std::vector<TensorSpec> tensors;
  for (const tensor::FormatInfo& format : tensor::all_formats()) {
    tensors.push_back({"t." + std::string(format.name), format.format, {2, format.block_elements}});
  }
  const support::TemporaryFolder folder;
  Writer writer(folder.path("m.gguf"), metadata, tensors, {.version = version});
  for (const TensorSpec& tensor : tensors) writer.append(std::vector<std::byte>(tensor_bytes(tensor), std::byte{0x5a}));
  writer.finish();
  return content_of(folder.path("m.gguf"));
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  /// One to four changes, most of them within the first `header_bytes`.
  std::string mutate(std::string content, size_t header_bytes) {
    for (uint64_t changes = below(4) + 1; changes > 0; --changes) change(content, header_bytes);
    return content;
  }

 private:
  uint64_t below(uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_); }

  size_t place(const std::string& content, size_t header_bytes) {
    const size_t limit = below(10) == 0 ? content.size() : std::min(header_bytes, content.size());
    return static_cast<size_t>(below(std::max<size_t>(limit, 1)));
  }

  void change(std::string& content, size_t header_bytes) {
    const size_t at = place(content, header_bytes);
    if (at >= content.size()) return;
    switch (below(8)) {
      case 0: content[at] = static_cast<char>(below(256)); break;
      case 1: content[at] = static_cast<char>(content[at] ^ (1 << below(8))); break;
      case 2: overwrite(content, at, striking_number(content.size()), 8); break;
      case 3: overwrite(content, at, striking_number(content.size()), 4); break;
      case 4: content.resize(at); break;
      case 5: content.erase(at, below(16) + 1); break;
      case 6: content.insert(at, std::string(below(16) + 1, static_cast<char>(below(256)))); break;
      default: content.insert(at, content.substr(at, below(64) + 1)); break;
    }
  }

  uint64_t striking_number(size_t size) {
    const std::vector<uint64_t> numbers = {0,
                                           1,
                                           below(16),
                                           9,
                                           size,
                                           size - 1,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           uint64_t{1} << 40,
                                           uint64_t{1} << 61,
                                           (uint64_t{1} << 63) - 1,
                                           uint64_t{1} << 63,
                                           ~uint64_t{0},
                                           ~uint64_t{0} - 31,
                                           random_()};
    return numbers[below(numbers.size())];
  }

  static void overwrite(std::string& content, size_t at, uint64_t number, size_t width) {
    for (size_t i = 0; i < width && at + i < content.size(); ++i)
      content[at + i] = static_cast<char>(number >> (8 * i));
  }

  std::mt19937_64 random_;
};

struct Tally {
  int accepted = 0;
  int refused = 0;
};

Tally run_mutations(const std::string& original, size_t header_bytes, int count, uint32_t seed) {
  MemoryFile file;
  Mutator mutator(seed);
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const std::string mutated = mutator.mutate(original, header_bytes);
    file.replace(mutated);
    const AllocationCounter allocations;
    const auto begin = std::chrono::steady_clock::now();
    const std::string message = support::exercise_gguf(file.path());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 2.0) << "mutation " << i;
    EXPECT_LE(allocations.peak_bytes(), mutated.size() + 64 * kMebibyte) << "mutation " << i;
    ++(message.empty() ? tally.accepted : tally.refused);
  }
  return tally;
}

class NanoMutations : public testing::TestWithParam<std::string> {};

TEST_P(NanoMutations, FourHundredGiveAFileOrAnError) {
  const std::string original = content_of(support::golden_path("models/" + GetParam() + "-nano-f32.gguf"));
  const Tally tally = run_mutations(original, 80000, 400, 17);
  EXPECT_GT(tally.refused, 200);
  EXPECT_GT(tally.accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, NanoMutations, testing::Values("qwen35moe", "qwen3moe", "qwen35", "qwen3", "llama"));

TEST(HandmadeMutations, ThreeThousandGiveAFileOrAnError) {
  int seed = 0;
  for (const uint32_t version : {2U, 3U}) {
    for (const uint32_t alignment : {8U, 32U, 64U}) {
      const std::string original = handmade(version, alignment);
      const Tally tally = run_mutations(original, 2200, 500, static_cast<uint32_t>(++seed));
      EXPECT_GT(tally.refused, 300);
      EXPECT_GT(tally.accepted, 5);
    }
  }
}

TEST(HandmadeMutations, PartsOfSplitModelsToo) {
  const support::TemporaryFolder folder;
  std::vector<TensorSpec> tensors;
  for (int i = 0; i < 6; ++i) tensors.push_back({"t" + std::to_string(i), tensor::Format::q8_0, {2, 32}});
  Writer writer(folder.path("m.gguf"), {}, tensors, {.part_count = 3});
  writer.append(std::vector<std::byte>(6 * 68));
  writer.finish();
  Mutator mutator(99);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string& path = writer.paths()[static_cast<size_t>(i % 3)];
    const std::string original = content_of(path);
    const std::string name = path.substr(folder.path().size() + 1);
    folder.write(name, mutator.mutate(original, 250));
    refused += support::exercise_gguf(writer.paths()[static_cast<size_t>(i / 3 % 3)]).empty() ? 0 : 1;
    folder.write(name, original);
  }
  EXPECT_GT(refused, 200);
  EXPECT_EQ(support::exercise_gguf(writer.paths()[1]), "");
}

}  // namespace
}  // namespace luce::gguf
