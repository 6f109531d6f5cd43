#include "text/message_folding.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"
#include "text/message_reading.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShortId = 9;

bool has_role(const Json& message, const char* role) { return message.at("role") == role; }

std::string content_of(const Json& message) {
  const Json& content = message.at("content");
  return content.is_string() ? content.get<std::string>() : std::string();
}

// Some clients put a line with a random value in front of their system text, which would part all prompts.
bool is_billing_line(const std::string& text) {
  return text.rfind("x-anthropic-billing-header:", 0) == 0 && text.find('\n') == std::string::npos;
}

Json without_billing_part(const Json& message) {
  const auto content = message.find("content");
  const auto role = message.find("role");
  const bool system = role != message.end() && (*role == "system" || *role == "developer");
  const bool parts = content != message.end() && content->is_array() && !content->empty();
  if (!system || !parts || !(*content)[0].is_object()) return message;
  const auto text = (*content)[0].find("text");
  if (text == (*content)[0].end() || !text->is_string() || !is_billing_line(text->get<std::string>())) return message;
  Json out = message;
  out["content"].erase(0);
  return out;
}

bool is_blank_assistant(const Json& message) {
  return has_role(message, "assistant") && !message.contains("tool_calls") && is_blank(content_of(message)) &&
         !message.contains("reasoning_content") && !message.contains("reasoning");
}

size_t leading_systems(const Json& messages) {
  size_t count = 0;
  while (count < messages.size() && has_role(messages[count], "system")) ++count;
  return count;
}

void join_leading_systems(Json& messages) {
  const size_t count = leading_systems(messages);
  if (count == 0) return;
  std::string joined;
  for (size_t i = 0; i < count; ++i) {
    const std::string text = content_of(messages[i]);
    if (is_blank(text) || (i == 0 && is_billing_line(text))) continue;
    joined += (joined.empty() ? "" : "\n\n") + text;
  }
  Json out = Json::array();
  if (!joined.empty()) {
    out.push_back(messages[0]);
    out[0]["content"] = joined;
  }
  for (size_t i = count; i < messages.size(); ++i) out.push_back(std::move(messages[i]));
  messages = std::move(out);
}

void drop_blanks(Json& messages) {
  Json out = Json::array();
  for (Json& message : messages) {
    if (has_role(message, "system") && is_blank(content_of(message))) continue;
    out.push_back(std::move(message));
  }
  while (!out.empty() && is_blank_assistant(out.back())) out.erase(out.size() - 1);
  messages = std::move(out);
}

bool is_short_id(const std::string& id) {
  return id.size() == kShortId && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
         });
}

// The FNV-1a hash of the id in base 62: nine of its digits take 53 bits of it.
std::string short_id(const std::string& id) {
  static constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::string text;
  for (; text.size() < kShortId; hash /= kDigits.size()) text.push_back(kDigits[hash % kDigits.size()]);
  return text;
}

bool can_merge(const Json& a, const Json& b) {
  if (a["role"] != b["role"] || a.contains("tool_calls") || b.contains("tool_calls")) return false;
  return has_role(a, "user") || has_role(a, "assistant");
}

}  // namespace

Json even_out(const Json& messages, const CallHabits& habits) {
  if (!messages.is_array() || messages.empty()) {
    throw Error(ErrorKind::invalid_request,
                fmt::format("messages must be an array with at least one message, found {}",
                            messages.is_array() ? "an empty one" : messages.type_name()),
                "messages");
  }
  Json out = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool first = i == 0 && messages[0].is_object();
    out.push_back(
        read_message(first ? without_billing_part(messages[0]) : messages[i], fmt::format("messages[{}]", i), habits));
  }
  join_leading_systems(out);
  drop_blanks(out);
  if (out.empty()) throw Error(ErrorKind::invalid_request, "messages hold no text", "messages");
  return out;
}

bool fold_late_systems(Json& messages) {
  bool changed = false;
  for (size_t i = leading_systems(messages); i < messages.size(); ++i) {
    if (!has_role(messages[i], "system")) continue;
    messages[i]["role"] = "user";
    messages[i]["content"] = "<system-reminder>\n" + content_of(messages[i]) + "\n</system-reminder>";
    changed = true;
  }
  return changed;
}

bool wrap_broken_arguments(Json& messages) {
  bool changed = false;
  for (Json& message : messages) {
    if (!message.contains("tool_calls")) continue;
    for (Json& call : message["tool_calls"]) {
      Json& arguments = call["function"]["arguments"];
      if (arguments.is_object()) continue;
      Json wrapped = Json::object();
      wrapped["arguments"] = std::move(arguments);
      arguments = std::move(wrapped);
      changed = true;
    }
  }
  return changed;
}

bool shorten_call_ids(Json& messages) {
  bool changed = false;
  const auto shorten = [&changed](Json& holder, const char* key) {
    const auto id = holder.find(key);
    if (id == holder.end() || !id->is_string() || is_short_id(*id)) return;
    *id = short_id(*id);
    changed = true;
  };
  for (Json& message : messages) {
    shorten(message, "tool_call_id");
    if (!message.contains("tool_calls")) continue;
    for (Json& call : message["tool_calls"]) shorten(call, "id");
  }
  return changed;
}

bool merge_neighbours(Json& messages) {
  Json out = Json::array();
  for (Json& message : messages) {
    if (!out.empty() && can_merge(out.back(), message)) {
      out.back()["content"] = content_of(out.back()) + "\n\n" + content_of(message);
    } else {
      out.push_back(std::move(message));
    }
  }
  const bool changed = out.size() < messages.size();
  messages = std::move(out);
  return changed;
}

bool move_system_to_user(Json& messages) {
  if (messages.empty() || !has_role(messages[0], "system")) return false;
  const std::string text = content_of(messages[0]);
  for (size_t i = 1; i < messages.size(); ++i) {
    if (!has_role(messages[i], "user")) continue;
    messages[i]["content"] = text + "\n\n" + content_of(messages[i]);
    messages.erase(0);
    return true;
  }
  return false;
}

bool ends_with_prefill(const Json& messages) {
  return !messages.empty() && has_role(messages.back(), "assistant") && !messages.back().contains("tool_calls");
}

}  // namespace luce::text
