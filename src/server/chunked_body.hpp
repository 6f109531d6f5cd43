#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace luce::server {

/// Decodes the chunked transfer coding as bytes arrive (RFC 9112, 7.1); extensions and trailers are dropped.
class ChunkedBody {
 public:
  enum class Progress { more, done, too_large, malformed };

  /// Moves decoded data from the front of `pending` to the end of `body`.
  Progress decode(std::string& pending, std::string& body, size_t most_body_bytes);

 private:
  enum class Part { size, data, data_end, trailer, done };

  Progress take_line(const std::string& line, size_t body_bytes, size_t most_body_bytes);

  Part part_ = Part::size;
  size_t left_bytes_ = 0;     // of the current chunk
  size_t trailer_bytes_ = 0;  // seen so far
};

}  // namespace luce::server
