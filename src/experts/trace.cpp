#include "experts/trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace luce::experts {
namespace {

constexpr std::array<char, 4> kMagic = {'L', 'R', 'T', '1'};
constexpr uint32_t kMaxLayers = 4096;
constexpr uint32_t kMaxExperts = 65536;
constexpr size_t kHeaderBytes = 24;

static_assert(std::endian::native == std::endian::little, "traces are read as they lie");

struct Header {
  uint32_t layers = 0, experts = 0, top_k = 0, sequences = 0, id_bytes = 0;
};

void check(bool holds, const std::string& path, const std::string& what) {
  if (!holds) fail(ErrorKind::invalid_file, "routing trace {}: {}; record it anew", path, what);
}

Header read_header(const std::vector<std::byte>& bytes, const std::string& path) {
  check(bytes.size() >= kHeaderBytes && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0, path,
        "it does not begin with LRT1 and a header of 24 bytes");
  Header header;
  std::memcpy(&header, bytes.data() + kMagic.size(), sizeof header);
  check(header.layers > 0 && header.layers <= kMaxLayers, path, fmt::format("it has {} layers", header.layers));
  check(header.experts > 0 && header.experts <= kMaxExperts, path, fmt::format("it has {} experts", header.experts));
  check(header.top_k > 0 && header.top_k <= header.experts, path, fmt::format("its top-k is {}", header.top_k));
  check(header.id_bytes == 1 || header.id_bytes == 2, path, fmt::format("its ids have {} bytes", header.id_bytes));
  check(header.sequences <= (bytes.size() - kHeaderBytes) / sizeof(uint32_t), path,
        fmt::format("it is too short for the lengths of {} sequences", header.sequences));
  return header;
}

std::vector<std::byte> read_file(const std::string& path) {
  const base::FileHandle file = base::FileHandle::open(path);
  std::vector<std::byte> bytes(file.size_bytes());
  file.read_exact(0, bytes);
  return bytes;
}

/// Fills `to` with the first bytes of `from`, which has enough.
template <typename Number>
void copy_bytes(std::span<const std::byte> from, std::vector<Number>& to) {
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size() * sizeof(Number));
}

void append_u32(std::string& out, uint32_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

}  // namespace

Trace::Trace(int layers, int experts, int top_k) : layers_(layers), experts_(experts), top_k_(top_k) {}

Trace Trace::load(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  const Header header = read_header(bytes, path);
  Trace trace(static_cast<int>(header.layers), static_cast<int>(header.experts), static_cast<int>(header.top_k));
  std::vector<uint32_t> lengths(header.sequences);
  copy_bytes(std::span(bytes).subspan(kHeaderBytes), lengths);
  for (const uint32_t length : lengths) {
    trace.add_sequence();
    trace.lengths_.back() = length;
    trace.tokens_ += length;
  }
  const size_t ids_at = kHeaderBytes + lengths.size() * sizeof(uint32_t);
  const size_t token_bytes = trace.token_ids() * header.id_bytes;
  const size_t found = bytes.size() - ids_at;
  check(found % token_bytes == 0 && found / token_bytes == static_cast<size_t>(trace.tokens_), path,
        fmt::format("its ids take {} bytes, {} tokens of {} are expected", found, trace.tokens_, token_bytes));
  trace.ids_.resize(found / header.id_bytes);
  if (header.id_bytes == 2)
    copy_bytes(std::span(bytes).subspan(ids_at), trace.ids_);
  else
    std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(ids_at), bytes.end(), trace.ids_.begin(),
                   [](std::byte id) { return static_cast<uint16_t>(id); });
  for (const uint16_t id : trace.ids_) check(id < header.experts, path, fmt::format("it names expert {}", id));
  return trace;
}

int trace_id_bytes(int experts) { return experts <= 256 ? 1 : 2; }

std::string trace_head(const TraceShape& shape, std::span<const uint32_t> lengths) {
  std::string head(kMagic.begin(), kMagic.end());
  for (const int number : {shape.layers, shape.experts, shape.top_k}) append_u32(head, static_cast<uint32_t>(number));
  append_u32(head, static_cast<uint32_t>(lengths.size()));
  append_u32(head, static_cast<uint32_t>(trace_id_bytes(shape.experts)));
  for (const uint32_t length : lengths) append_u32(head, length);
  return head;
}

void Trace::save(const std::string& path) const {
  const int id_bytes = trace_id_bytes(experts_);
  const std::vector<uint32_t> lengths(lengths_.begin(), lengths_.end());
  std::string out = trace_head({layers_, experts_, top_k_}, lengths);
  for (const uint16_t id : ids_) {
    out.push_back(static_cast<char>(id & 0xFF));
    if (id_bytes == 2) out.push_back(static_cast<char>(id >> 8));
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(out.data(), static_cast<std::streamsize>(out.size()));
  file.close();
  if (!file) fail(ErrorKind::io, "cannot write the routing trace {}; check the folder and the free space", path);
}

std::span<const uint16_t> Trace::at(int sequence, int64_t token, int layer) const {
  const auto index = static_cast<size_t>(first_token_[static_cast<size_t>(sequence)] + token);
  const size_t first = index * token_ids() + static_cast<size_t>(layer) * static_cast<size_t>(top_k_);
  return std::span(ids_).subspan(first, static_cast<size_t>(top_k_));
}

int Trace::add_sequence() {
  first_token_.push_back(tokens_);
  lengths_.push_back(0);
  return sequences() - 1;
}

void Trace::add_token(std::span<const uint16_t> ids) {
  if (lengths_.empty() || ids.size() != token_ids() ||
      std::any_of(ids.begin(), ids.end(), [this](uint16_t id) { return id >= experts_; }))
    fail(ErrorKind::invalid_request, "routing trace: a token needs {} x {} ids below {}", layers_, top_k_, experts_);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  ++lengths_.back();
  ++tokens_;
}

}  // namespace luce::experts
