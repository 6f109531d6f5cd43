#include "completion/completer.hpp"

#include <algorithm>
#include <ctime>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "completion/grammar/grammar_constraint.hpp"
#include "completion/grammar/output_grammar.hpp"
#include "completion/reply/incoming.hpp"
#include "completion/reply_plan.hpp"
#include "completion/reply_state.hpp"
#include "completion/thinking_budget.hpp"
#include "completion/tool_check.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace luce::completion {

namespace {

constexpr size_t kKeptTurnEnds = 4;  // besides the first, which ends what all chats of a client share

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// Positions after the tokens that end turns in a prompt.
std::vector<int> turn_ends(const std::vector<int32_t>& tokens, const text::Vocabulary& vocabulary) {
  std::vector<int> ends;
  for (size_t i = 0; i + 1 < tokens.size(); ++i)
    if (vocabulary.is_end(tokens[i])) ends.push_back(static_cast<int>(i + 1));
  if (ends.size() > kKeptTurnEnds + 1)
    ends.erase(ends.begin() + 1, ends.end() - static_cast<std::ptrdiff_t>(kKeptTurnEnds));
  return ends;
}

// Whether the model may open a think block itself: the prompt has neither closed one nor begun the answer.
bool may_reason(const text::ChatPrompt& prompt, const ChatInput& input, const ReplyFormat& format) {
  if (format.think_open.empty() || prompt.prefill || input.enable_thinking == false) return false;
  const std::string_view text = prompt.text;
  return !text.substr(0, trimmed_length(text)).ends_with(format.think_close);
}

}  // namespace

std::string overflow_message(const engine::ContextOverflow& overflow, int max_tokens) {
  const int completion = std::max(max_tokens, 0);
  return fmt::format(
      "This model's maximum context length is {} tokens. However, you requested {} tokens ({} in the prompt, {} in the "
      "completion). Please reduce the length of the prompt or the completion.",
      overflow.context_tokens, static_cast<int64_t>(overflow.prompt_tokens) + completion, overflow.prompt_tokens,
      completion);
}

Reply::Reply(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reply::Reply(Reply&&) noexcept = default;
Reply& Reply::operator=(Reply&&) noexcept = default;
Reply::~Reply() = default;
std::optional<TextEvent> Reply::next(std::chrono::milliseconds timeout) { return state_->next(timeout); }
bool Reply::ended() const { return state_->ended(); }
void Reply::cancel() { state_->cancel(); }

Completer::Completer(engine::Engine& engine, const text::Tokenizer& tokenizer, const text::ChatTemplate* chat_template,
                     std::string_view template_source)
    : engine_(engine),
      tokenizer_(tokenizer),
      chat_template_(chat_template),
      format_(std::make_shared<const ReplyFormat>(reply_format_of(
          template_source.empty() ? std::string_view(tokenizer.vocabulary().chat_template()) : template_source))) {}

Prompt Completer::prepare(const ChatInput& input, const GenerationSettings& settings) const {
  if (chat_template_ == nullptr)
    fail(ErrorKind::unsupported, "the model has no chat template: use /v1/completions, or give a template at start");
  const Json tools = checked_tools(input.tools);
  check_tool_choice(input.tool_choice, tools);
  const text::ChatPrompt rendered = chat_template_->render({.messages = input.messages,
                                                            .tools = tools,
                                                            .add_generation_prompt = true,
                                                            .enable_thinking = input.enable_thinking,
                                                            .template_kwargs = input.template_kwargs,
                                                            .now = local_time()});
  auto plan = std::make_shared<ReplyPlan>();
  plan->format = format_;
  plan->chat = true;
  plan->tools = ToolSet(tools);
  plan->tool_choice = input.tool_choice;
  plan->parallel_tool_calls = input.parallel_tool_calls;
  plan->starts_in_reasoning = text::ends_inside(rendered, format_->think_open, format_->think_close, rendered.prefill);
  plan->may_reason = may_reason(rendered, input, *format_);
  plan->grammar = output_grammar(*plan, settings.output);
  std::vector<int32_t> tokens = tokenizer_.encode(rendered);
  std::vector<int> ends = turn_ends(tokens, tokenizer_.vocabulary());
  return {.text = rendered.text, .tokens = std::move(tokens), .turn_ends = std::move(ends), .plan = std::move(plan)};
}

Prompt Completer::prepare(std::string_view text, const GenerationSettings& settings) const {
  Prompt prompt = prepare(tokenizer_.encode(text, text::Special::parse, tokenizer_.adds_bos()), settings);
  prompt.text = text;
  return prompt;
}

Prompt Completer::prepare(std::vector<int32_t> tokens, const GenerationSettings& settings) const {
  auto plan = std::make_shared<ReplyPlan>();
  plan->format = format_;
  plan->grammar = output_grammar(*plan, settings.output);
  return {.tokens = std::move(tokens), .plan = std::move(plan)};
}

std::shared_ptr<const TokenTable> Completer::token_table() const {
  std::call_once(token_table_once_, [this] {
    const text::Vocabulary& vocabulary = tokenizer_.vocabulary();
    token_table_ = std::make_shared<const TokenTable>(vocabulary, token_ids(format_->markup_tokens, vocabulary));
  });
  return token_table_;
}

std::unique_ptr<sampling::TokenConstraint> Completer::constraint(const ReplyPlan& plan,
                                                                 const GenerationSettings& settings) const {
  std::unique_ptr<sampling::TokenConstraint> constraint;
  if (plan.grammar != nullptr)
    constraint = std::make_unique<GrammarConstraint>(plan.grammar, token_table(), tokenizer_.vocabulary().end_tokens());
  const bool reasons = plan.chat && (plan.starts_in_reasoning || plan.may_reason || format_->harmony);
  if (!settings.thinking_budget_tokens || *settings.thinking_budget_tokens < 0 || !reasons) return constraint;
  return std::make_unique<ThinkingBudget>(thinking_tags(plan), *settings.thinking_budget_tokens,
                                          plan.starts_in_reasoning, token_table(), std::move(constraint));
}

// In the harmony format the reasoning is a message; where the model is free, the answer is begun for it.
ThinkingBudget::Tags Completer::thinking_tags(const ReplyPlan& plan) const {
  ThinkingBudget::Tags tags{.open = format_->think_open, .close = format_->think_close, .close_tokens = {}};
  std::string closing = format_->think_close;
  if (format_->harmony) {
    tags.open = "<|channel|>analysis<|message|>";
    tags.close = closing = "<|end|>";
    if (plan.grammar == nullptr && plan.tools.empty()) closing += "<|start|>assistant<|channel|>final<|message|>";
  }
  tags.close_tokens = tokenizer_.encode(closing, text::Special::parse);
  return tags;
}

StartResult Completer::start(const Prompt& prompt, const GenerationSettings& settings, int choice) const {
  engine::Request request;
  request.tokens = prompt.tokens;
  request.turn_ends = prompt.turn_ends;
  request.sampling = settings.sampling;
  request.sampling.seed = settings.seed ? *settings.seed + static_cast<uint64_t>(choice) : random_seed();
  request.max_tokens = settings.max_tokens;
  request.end_tokens = tokenizer_.vocabulary().end_tokens();
  request.ignore_eos = settings.ignore_eos;
  request.session_id = settings.session_id;
  request.task_tag = settings.task_tag;
  request.use_prompt_cache = settings.use_prompt_cache;
  request.deadline = settings.deadline;
  request.constraint = constraint(*prompt.plan, settings);
  engine::SubmitResult result = engine_.submit(std::move(request));
  if (auto* handle = std::get_if<engine::RequestHandle>(&result))
    return Reply(std::make_unique<Reply::State>(std::move(*handle), tokenizer_.vocabulary(), prompt.plan, settings));
  if (const auto* overflow = std::get_if<engine::ContextOverflow>(&result)) return *overflow;
  if (const auto* held = std::get_if<engine::Held>(&result)) return *held;
  if (std::holds_alternative<engine::QueueFull>(result)) return engine::QueueFull{};
  return engine::Stopping{};
}

}  // namespace luce::completion
