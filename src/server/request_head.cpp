#include "server/request_head.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace luce::server {
namespace {

constexpr size_t kMostTargetBytes = 8192;
constexpr size_t kMostHeaders = 128;

bool is_token_char(char c) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kSigns.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The next line without its end; `rest` moves behind it.
std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::optional<Refusal> parse_version(std::string_view version, HttpRequest& request) {
  if (version == "HTTP/1.1") return std::nullopt;
  if (version == "HTTP/1.0") {
    request.minor_version = 0;
    return std::nullopt;
  }
  if (version.substr(0, 5) == "HTTP/") return Refusal{505, "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
  return Refusal{400, "The request line does not end with an HTTP version."};
}

std::optional<Refusal> parse_request_line(std::string_view line, HttpRequest& request) {
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || target_end == method_end)
    return Refusal{400, "The request line is not METHOD TARGET VERSION."};
  const std::string_view method = line.substr(0, method_end);
  const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  if (!is_token(method)) return Refusal{400, "The request method is not a token."};
  if (target.size() > kMostTargetBytes) return Refusal{414, "The request target is longer than 8192 bytes."};
  const auto is_bad = [](char c) { return is_control(c) || c == ' ' || c == '\t'; };
  if (target.empty() || std::any_of(target.begin(), target.end(), is_bad) || (target[0] != '/' && target != "*"))
    return Refusal{400, "The request target must be a path that begins with '/'."};
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  return parse_version(line.substr(target_end + 1), request);
}

std::optional<Refusal> parse_header_line(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Refusal{400, "A header line has no colon."};
  if (!is_token(line.substr(0, colon))) return Refusal{400, "A header name holds characters that are not allowed."};
  const std::string_view value = trim(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(), is_control)) return Refusal{400, "A header value holds control bytes."};
  if (request.headers.size() >= kMostHeaders) return Refusal{431, "The request has more than 128 headers."};
  request.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return std::nullopt;
}

size_t count_headers(const HttpRequest& request, std::string_view name) {
  return static_cast<size_t>(std::count_if(request.headers.begin(), request.headers.end(),
                                           [name](const Header& each) { return same_ignoring_case(each.name, name); }));
}

std::optional<Refusal> find_length(const HttpRequest& request, BodyFraming& framing) {
  const auto length = request.header("Content-Length");
  if (!length) return std::nullopt;
  if (count_headers(request, "Content-Length") > 1) return Refusal{400, "Content-Length is given more than once."};
  const char* const end = length->data() + length->size();
  const auto [stop, error] = std::from_chars(length->data(), end, framing.length_bytes);
  if (error == std::errc::result_out_of_range) return Refusal{413, "Content-Length is out of range."};
  if (error != std::errc() || stop != end) return Refusal{400, "Content-Length is not a decimal number."};
  return std::nullopt;
}

std::optional<Refusal> find_framing(const HttpRequest& request, BodyFraming& framing) {
  const auto expectation = request.header("Expect");
  if (expectation && !same_ignoring_case(*expectation, "100-continue"))
    return Refusal{417, "Only 'Expect: 100-continue' is supported."};
  framing.expects_continue = expectation.has_value() && request.minor_version == 1;
  const auto coding = request.header("Transfer-Encoding");
  if (!coding) return find_length(request, framing);
  if (request.header("Content-Length") || request.minor_version == 0 || count_headers(request, "Transfer-Encoding") > 1)
    return Refusal{400, "Transfer-Encoding contradicts another header."};
  if (!same_ignoring_case(*coding, "chunked"))
    return Refusal{501, "Of the transfer codings only chunked is supported."};
  framing.chunked = true;
  return std::nullopt;
}

bool wants_keep_alive(const HttpRequest& request) {
  const auto connection = request.header("Connection");
  if (request.minor_version == 0) return connection && same_ignoring_case(*connection, "keep-alive");
  return !connection || !same_ignoring_case(*connection, "close");
}

}  // namespace

std::optional<Refusal> parse_request_head(std::string_view head, RequestHead& out) {
  out = RequestHead{};
  if (auto refusal = parse_request_line(take_line(head), out.request)) return refusal;
  for (std::string_view line = take_line(head); !line.empty(); line = take_line(head))
    if (auto refusal = parse_header_line(line, out.request)) return refusal;
  const size_t hosts = count_headers(out.request, "Host");
  if (hosts > 1 || (hosts == 0 && out.request.minor_version == 1))
    return Refusal{400, "A request needs exactly one Host header."};
  out.request.keep_alive = wants_keep_alive(out.request);
  return find_framing(out.request, out.framing);
}

}  // namespace luce::server
