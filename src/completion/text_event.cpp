#include "completion/text_event.hpp"

namespace luce::completion {

const char* finish_reason_name(ReplyEnd end) {
  switch (end) {
    case ReplyEnd::stop: return "stop";
    case ReplyEnd::length: return "length";
    case ReplyEnd::tool_calls: return "tool_calls";
  }
  return "stop";
}

}  // namespace luce::completion
