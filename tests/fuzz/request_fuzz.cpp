// JSON bodies of requests: parsed within limits or refused as the client's fault.
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "server/chat_request.hpp"
#include "server/completion_request.hpp"
#include "server/json_limits.hpp"
#include "server/request_reader.hpp"

namespace {

template <typename Action>
void ignoring_refusal(Action&& action) {
  try {
    action();
  } catch (const luce::Error& error) {
    if (luce::base::traits(error.kind()).http_status >= 500) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace luce::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr RequestBounds kBounds{2048, 8};
  ignoring_refusal([&] { parse_chat_request(parse_json_object(text), kBounds); });
  ignoring_refusal([&] { parse_completion_request(parse_json_object(text), kBounds); });
  RequestReader reader(1 << 16);
  if (reader.feed(text) == RequestReader::State::complete) reader.take_request();
  return 0;
}
