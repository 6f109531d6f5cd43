#include "server/request_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"

namespace luce::server {
namespace {

constexpr size_t kMostHeadBytes = 32768;

/// Bytes up to and with the empty line that ends a head, 0 if it has not come yet.
size_t head_end(std::string_view text, size_t from) {
  for (size_t at = text.find('\n', from); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    const std::string_view next = text.substr(at + 1, 2);
    if (next.substr(0, 1) == "\n") return at + 2;
    if (next == "\r\n") return at + 3;
  }
  return 0;
}

}  // namespace

RequestReader::State RequestReader::feed(std::string_view bytes) {
  pending_.append(bytes);
  advance();
  return state_;
}

bool RequestReader::take_continue() { return std::exchange(owes_continue_, false); }

HttpRequest RequestReader::take_request() {
  HttpRequest request = std::move(head_.request);
  head_ = RequestHead{};
  chunks_ = ChunkedBody{};
  owes_continue_ = false;
  scanned_bytes_ = 0;
  state_ = State::head;
  advance();
  return request;
}

void RequestReader::advance() {
  if (state_ == State::head) read_head();
  if (state_ == State::body) read_body();
}

void RequestReader::read_head() {
  // Empty lines before a request are skipped (RFC 9112, 2.2).
  pending_.erase(0, std::min(pending_.find_first_not_of("\r\n"), pending_.size()));
  const size_t end = head_end(pending_, scanned_bytes_);
  if (end == 0 && pending_.size() <= kMostHeadBytes) {
    scanned_bytes_ = pending_.size() < 3 ? 0 : pending_.size() - 3;
    return;
  }
  if (end == 0 || end > kMostHeadBytes)
    return refuse({431, fmt::format("The request's headers are longer than {} bytes.", kMostHeadBytes)});
  auto refusal = parse_request_head(std::string_view(pending_).substr(0, end), head_);
  pending_.erase(0, end);
  if (refusal) return refuse(std::move(*refusal));
  begin_body();
}

void RequestReader::begin_body() {
  if (head_.framing.length_bytes > most_body_bytes_)
    return refuse({413, fmt::format("The body has {} bytes; at most {} are read.", head_.framing.length_bytes,
                                    most_body_bytes_)});
  state_ = State::body;
  const bool has_body = head_.framing.chunked || head_.framing.length_bytes > 0;
  owes_continue_ = head_.framing.expects_continue && has_body && pending_.empty();
}

void RequestReader::read_body() {
  std::string& body = head_.request.body;
  if (!head_.framing.chunked) {
    const size_t wanted = std::min(head_.framing.length_bytes - body.size(), pending_.size());
    body.append(pending_, 0, wanted);
    pending_.erase(0, wanted);
    if (body.size() == head_.framing.length_bytes) state_ = State::complete;
    return;
  }
  const ChunkedBody::Progress progress = chunks_.decode(pending_, body, most_body_bytes_);
  if (progress == ChunkedBody::Progress::done) state_ = State::complete;
  if (progress == ChunkedBody::Progress::too_large)
    refuse({413, fmt::format("The body is longer than {} bytes.", most_body_bytes_)});
  if (progress == ChunkedBody::Progress::malformed) refuse({400, "The chunked body is malformed."});
}

void RequestReader::refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  state_ = State::refused;
  std::string().swap(pending_);
  std::string().swap(head_.request.body);
}

}  // namespace luce::server
