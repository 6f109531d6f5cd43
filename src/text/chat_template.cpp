#include "text/chat_template.hpp"

#include "base/error.hpp"
#include "text/jinja/template.hpp"
#include "text/vocabulary.hpp"

namespace luce::text {

using Json = nlohmann::ordered_json;

TemplateTokens TemplateTokens::of(const Vocabulary& vocabulary) {
  const auto text = [&](int32_t id) { return id == kNoToken ? std::string() : vocabulary.text(id); };
  return {text(vocabulary.bos()), text(vocabulary.eos()), text(vocabulary.unknown()), text(vocabulary.padding())};
}

class ChatTemplate::Impl {
 public:
  Impl(std::string_view source, TemplateTokens tokens)
      : template_(source), bos_(tokens.bos), eos_(tokens.eos), unknown_(tokens.unknown), padding_(tokens.padding) {}

  RenderedPrompt render_as_given(const ChatInput& input) const {
    using jinja::Origin;
    const Json generation = input.add_generation_prompt;
    const Json thinking = input.enable_thinking.value_or(false);
    std::vector<jinja::Input> inputs = {{"bos_token", bos_, Origin::trusted},
                                        {"eos_token", eos_, Origin::trusted},
                                        {"unk_token", unknown_, Origin::trusted},
                                        {"pad_token", padding_, Origin::trusted}};
    if (input.template_kwargs.is_object()) {
      for (const auto& [name, value] : input.template_kwargs.items()) inputs.push_back({name, value, Origin::plain});
    }
    // Later ones win: these are not the client's to replace.
    inputs.push_back({"messages", input.messages, Origin::plain});
    if (!input.tools.is_null()) inputs.push_back({"tools", input.tools, Origin::plain});
    inputs.push_back({"add_generation_prompt", generation, Origin::trusted});
    if (input.enable_thinking) inputs.push_back({"enable_thinking", thinking, Origin::trusted});
    return template_.render(inputs, input.now);
  }

 private:
  jinja::Template template_;
  Json bos_;
  Json eos_;
  Json unknown_;
  Json padding_;
};

ChatTemplate::ChatTemplate(std::string_view source, TemplateTokens tokens)
    : impl_(std::make_unique<const Impl>(source, std::move(tokens))) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

RenderedPrompt ChatTemplate::render_as_given(const ChatInput& input) const { return impl_->render_as_given(input); }

ChatPrompt ChatTemplate::render(const ChatInput& input) const {
  ChatPrompt prompt;
  static_cast<RenderedPrompt&>(prompt) = impl_->render_as_given(input);
  return prompt;
}

}  // namespace luce::text
