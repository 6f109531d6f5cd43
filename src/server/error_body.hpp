#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "server/http_message.hpp"

namespace luce::server {

/// One error as the OpenAI API words it.
struct ApiError {
  int status = 500;
  std::string message;
  std::string type;
  std::string param;                  // empty: null
  std::string code;                   // empty: null
  std::optional<int> prompt_tokens;   // for a prompt that does not fit
  std::optional<int> context_tokens;  // likewise
};

/// Whose words an error is put into.
enum class ErrorStyle { openai, anthropic };

ApiError api_error(ErrorKind kind, std::string_view message, std::string_view param = {});
/// For faults that exist only in HTTP: 405, 408, 414, 415, ...
ApiError http_error(int status, std::string_view message);

/// {"error":{"message","type","param","code"}} or {"type":"error","error":{"type","message"}}: at most about 1 KB,
/// valid UTF-8 whatever the message holds.
std::string error_json(const ApiError& error, ErrorStyle style = ErrorStyle::openai);
/// With Retry-After where trying again helps.
HttpResponse error_response(const ApiError& error, ErrorStyle style = ErrorStyle::openai);

}  // namespace luce::server
