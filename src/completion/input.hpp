#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "completion/json.hpp"
#include "engine/request.hpp"
#include "sampling/settings.hpp"

namespace luce::completion {

enum class ToolMode { automatic, none, required, named };

struct ToolChoice {
  ToolMode mode = ToolMode::automatic;
  std::string name = {};  // of the function, for named
};

/// A chat as the client sent it. Shapes are checked by Completer::prepare, which names the field at fault.
struct ChatInput {
  Json messages = {};  // array
  Json tools = {};     // array or null
  ToolChoice tool_choice = {};
  bool parallel_tool_calls = true;
  Json template_kwargs = {};                 // object or null; never replaces messages, tools or add_generation_prompt
  std::optional<bool> enable_thinking = {};  // beats template_kwargs.enable_thinking; empty: as the template has it
};

enum class OutputFormat { text, json_object, json_schema, grammar };

struct OutputConstraint {
  OutputFormat format = OutputFormat::text;
  Json schema = {};          // for json_schema
  std::string grammar = {};  // for grammar: GBNF
};

/// How a reply is generated, whatever the prompt.
struct GenerationSettings {
  sampling::SamplingSettings sampling = {};  // its seed is not used; with logprobs deltas carry their tokens
  std::optional<uint64_t> seed = {};         // choice i uses seed + i; empty: random
  int max_tokens = -1;                       // below 0: as many as the context holds
  std::vector<std::string> stop = {};        // act on the answer, not on reasoning
  bool ignore_eos = false;
  std::optional<int> thinking_budget_tokens = {};
  OutputConstraint output = {};
  std::string session_id = {};
  std::string task_tag = {};
  bool use_prompt_cache = true;
  std::optional<engine::Clock::time_point> deadline = {};
};

}  // namespace luce::completion
