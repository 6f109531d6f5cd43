#include "text/chat_template.hpp"

#include <functional>

#include "base/error.hpp"
#include "text/jinja/template.hpp"
#include "text/message_folding.hpp"
#include "text/message_reading.hpp"
#include "text/template_probe.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kThinkOpen = "<think>";
constexpr const char* kThinkClose = "</think>";
// Marks where the model goes on; a code point that no text uses.
constexpr std::string_view kHere = "\xF4\x8F\xBF\xBD";

void cut(RenderedPrompt& prompt, size_t size) {
  prompt.text.resize(size);
  auto& spans = prompt.plain_spans;
  while (!spans.empty() && spans.back().begin >= size) spans.pop_back();
  if (!spans.empty()) spans.back().end = std::min(spans.back().end, size);
}

// A prefill that only begins to think goes on inside the reasoning, as do reasoning texts without an answer.
bool mark_in_reasoning(Json& message) {
  std::string content = message["content"].get<std::string>();
  std::string reasoning;
  if (content.rfind(kThinkOpen, 0) == 0 && content.find(kThinkClose) == std::string::npos) {
    reasoning = content.substr(std::string_view(kThinkOpen).size());
    reasoning.erase(0, reasoning.find_first_not_of("\r\n") == std::string::npos ? reasoning.size()
                                                                                : reasoning.find_first_not_of("\r\n"));
    content.clear();
  } else if (message.contains("reasoning_content") && message["reasoning_content"].is_string() && is_blank(content)) {
    reasoning = message["reasoning_content"].get<std::string>();
  } else {
    return false;
  }
  message["reasoning_content"] = reasoning + std::string(kHere);
  message["content"] = content;
  return true;
}

void mark_in_content(Json& message) { message["content"] = message["content"].get<std::string>() + std::string(kHere); }

}  // namespace

TemplateTokens TemplateTokens::of(const Vocabulary& vocabulary) {
  const auto text = [&](int32_t id) { return id == kNoToken ? std::string() : vocabulary.text(id); };
  return {text(vocabulary.bos()), text(vocabulary.eos()), text(vocabulary.unknown()), text(vocabulary.padding())};
}

class ChatTemplate::Impl {
 public:
  Impl(std::string_view source, const TemplateTokens& tokens)
      : template_(source), bos_(tokens.bos), eos_(tokens.eos), unknown_(tokens.unknown), padding_(tokens.padding) {
    habits_ = probe_habits([this](const Json& messages, bool with_tool) { return probe(messages, with_tool); });
  }

  RenderedPrompt render_as_given(const ChatInput& input, const Json& messages) const {
    using jinja::Origin;
    const Json generation = input.add_generation_prompt;
    const Json thinking = input.enable_thinking.value_or(false);
    std::vector<jinja::Input> inputs = {{"bos_token", bos_, Origin::trusted},
                                        {"eos_token", eos_, Origin::trusted},
                                        {"unk_token", unknown_, Origin::trusted},
                                        {"pad_token", padding_, Origin::trusted}};
    // Two names are in use for the switch.
    if (input.enable_thinking) inputs.push_back({"thinking", thinking, Origin::trusted});
    if (input.template_kwargs.is_object()) {
      for (const auto& [name, value] : input.template_kwargs.items()) inputs.push_back({name, value, Origin::plain});
    }
    // Later ones win: these are not the client's to replace.
    inputs.push_back({"messages", messages, Origin::plain});
    if (!input.tools.is_null()) inputs.push_back({"tools", input.tools, Origin::plain});
    inputs.push_back({"add_generation_prompt", generation, Origin::trusted});
    if (input.enable_thinking) inputs.push_back({"enable_thinking", thinking, Origin::trusted});
    return template_.render(inputs, input.now);
  }

  ChatPrompt render(const ChatInput& input) const {
    Json messages = even_out(input.messages, habits_.calls);
    if (habits_.drops_late_systems) fold_late_systems(messages);
    if (habits_.drops_system) move_system_to_user(messages);
    ChatPrompt prompt;
    prompt.prefill = input.add_generation_prompt && ends_with_prefill(messages);
    static_cast<RenderedPrompt&>(prompt) = render_repaired(input, messages);
    prompt.opens_thinking = ends_inside(prompt, kThinkOpen, kThinkClose, prompt.prefill);
    return prompt;
  }

 private:
  std::optional<std::string> probe(const Json& messages, bool with_tool) const {
    ChatInput input;
    if (with_tool) {
      input.tools = Json::parse(R"([{"type": "function", "function": {"name": "probe_tool", "description": "A tool.",
                                  "parameters": {"type": "object", "properties": {}}}}])");
    }
    try {
      return render_as_given(input, messages).text;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Offers the messages as they are, then changed step by step until the template takes them. If it never does, its
  // first refusal counts.
  RenderedPrompt render_repaired(const ChatInput& input, Json messages) const {
    using Repair = bool (*)(Json&);
    std::optional<Error> refusal;
    for (const Repair repair : {Repair{}, Repair{fold_late_systems}, Repair{wrap_broken_arguments},
                                Repair{shorten_call_ids}, Repair{merge_neighbours}, Repair{move_system_to_user}}) {
      if (repair != nullptr && !repair(messages)) continue;
      if (repair == move_system_to_user) merge_neighbours(messages);
      try {
        return render_prepared(input, messages);
      } catch (const jinja::LimitReached&) {
        throw;
      } catch (const Error& error) {
        if (!refusal) refusal = error;
      }
    }
    throw *refusal;
  }

  RenderedPrompt render_prepared(const ChatInput& input, const Json& messages) const {
    if (!input.add_generation_prompt || !ends_with_prefill(messages)) return render_as_given(input, messages);
    ChatInput whole = input;
    whole.add_generation_prompt = false;
    Json marked = messages;
    if (mark_in_reasoning(marked.back())) {
      RenderedPrompt prompt = render_as_given(whole, marked);
      if (cut_at_mark(prompt)) return prompt;
      marked = messages;
    }
    mark_in_content(marked.back());
    RenderedPrompt prompt = render_as_given(whole, marked);
    if (cut_at_mark(prompt)) return prompt;
    throw Error(ErrorKind::invalid_request,
                "the chat template drops an assistant message at the end, so that it cannot be continued", "messages");
  }

  static bool cut_at_mark(RenderedPrompt& prompt) {
    const size_t at = prompt.text.rfind(kHere);
    if (at == std::string::npos) return false;
    cut(prompt, at);
    return true;
  }

  jinja::Template template_;
  Json bos_;
  Json eos_;
  Json unknown_;
  Json padding_;
  TemplateHabits habits_;
};

ChatTemplate::ChatTemplate(std::string_view source, const TemplateTokens& tokens)
    : impl_(std::make_unique<const Impl>(source, tokens)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

RenderedPrompt ChatTemplate::render_as_given(const ChatInput& input) const {
  return impl_->render_as_given(input, input.messages);
}

ChatPrompt ChatTemplate::render(const ChatInput& input) const { return impl_->render(input); }

}  // namespace luce::text
