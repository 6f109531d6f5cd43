#include "server/error_body.hpp"

#include <nlohmann/json.hpp>

namespace luce::server {
namespace {

constexpr size_t kMostMessageBytes = 600;
constexpr size_t kMostParamBytes = 100;

const char* code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unauthorized: return "invalid_api_key";
    case ErrorKind::context_overflow: return "context_length_exceeded";
    case ErrorKind::usage:
    case ErrorKind::invalid_request: return "";
    default: return base::traits(kind).label;
  }
}

std::string cut(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

const char* anthropic_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 503: return "overloaded_error";
    default: return status < 500 ? "invalid_request_error" : "api_error";
  }
}

nlohmann::ordered_json text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

}  // namespace

ApiError api_error(ErrorKind kind, std::string_view message, std::string_view param) {
  const base::ErrorTraits& traits = base::traits(kind);
  return {traits.http_status,
          cut(message, kMostMessageBytes),
          traits.openai_type,
          cut(param, kMostParamBytes),
          code_of(kind),
          {},
          {}};
}

ApiError http_error(int status, std::string_view message) {
  ApiError error;
  error.status = status;
  error.message = cut(message, kMostMessageBytes);
  error.type = status < 500 ? "invalid_request_error" : "server_error";
  switch (status) {
    case 405: error.code = "method_not_allowed"; break;
    case 408: error.code = "request_timeout"; break;
    case 413: error.code = "too_large"; break;
    case 415: error.code = "unsupported_media_type"; break;
    case 503: error.code = "overloaded"; break;
    default: break;
  }
  return error;
}

std::string error_json(const ApiError& error, ErrorStyle style) {
  nlohmann::ordered_json whole;
  if (style == ErrorStyle::anthropic) {
    whole = {{"type", "error"}, {"error", {{"type", anthropic_type(error.status)}, {"message", error.message}}}};
  } else {
    nlohmann::ordered_json body = {{"message", error.message},
                                   {"type", error.type},
                                   {"param", text_or_null(error.param)},
                                   {"code", text_or_null(error.code)}};
    if (error.prompt_tokens) body["n_prompt_tokens"] = *error.prompt_tokens;
    if (error.context_tokens) body["n_ctx"] = *error.context_tokens;
    whole["error"] = std::move(body);
  }
  return whole.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

HttpResponse error_response(const ApiError& error, ErrorStyle style) {
  HttpResponse response;
  response.status = error.status;
  response.body = error_json(error, style);
  if (error.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (error.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

}  // namespace luce::server
