#include "server/chunked_body.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace luce::server {
namespace {

constexpr size_t kMostLineBytes = 1024;
constexpr size_t kMostTrailerBytes = 8192;

/// Size of a chunk from its line, extensions ignored.
std::optional<size_t> chunk_size(std::string_view line) {
  size_t size = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  if (error != std::errc() || stop == line.data()) return std::nullopt;
  const auto rest = line.substr(static_cast<size_t>(stop - line.data()));
  const size_t sign = rest.find_first_not_of(" \t");
  if (sign != std::string_view::npos && rest[sign] != ';') return std::nullopt;
  return size;
}

}  // namespace

ChunkedBody::Progress ChunkedBody::decode(std::string& pending, std::string& body, size_t most_body_bytes) {
  size_t used = 0;
  Progress progress = Progress::more;
  while (progress == Progress::more && part_ != Part::done) {
    if (part_ == Part::data) {
      const size_t take = std::min(left_bytes_, pending.size() - used);
      body.append(pending, used, take);
      used += take;
      left_bytes_ -= take;
      if (left_bytes_ > 0) break;
      part_ = Part::data_end;
    }
    const size_t end = pending.find('\n', used);
    const size_t line_bytes = (end == std::string::npos ? pending.size() : end) - used;
    if (line_bytes > kMostLineBytes) progress = Progress::malformed;
    if (end == std::string::npos) break;
    std::string line = pending.substr(used, line_bytes);
    used = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    progress = take_line(line, body.size(), most_body_bytes);
  }
  pending.erase(0, used);
  return part_ == Part::done ? Progress::done : progress;
}

ChunkedBody::Progress ChunkedBody::take_line(const std::string& line, size_t body_bytes, size_t most_body_bytes) {
  if (part_ == Part::data_end) {
    part_ = Part::size;
    return line.empty() ? Progress::more : Progress::malformed;
  }
  if (part_ == Part::trailer) {
    trailer_bytes_ += line.size();
    if (line.empty()) part_ = Part::done;
    return trailer_bytes_ > kMostTrailerBytes ? Progress::malformed : Progress::more;
  }
  const auto size = chunk_size(line);
  // A size near the top of the number range can only be an attack on the sum below.
  if (!size || *size > SIZE_MAX / 2) return Progress::malformed;
  if (*size > most_body_bytes - std::min(body_bytes, most_body_bytes)) return Progress::too_large;
  left_bytes_ = *size;
  part_ = *size == 0 ? Part::trailer : Part::data;
  return Progress::more;
}

}  // namespace luce::server
