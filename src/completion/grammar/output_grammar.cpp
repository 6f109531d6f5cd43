#include "completion/grammar/output_grammar.hpp"

#include "base/format.hpp"

#include <utility>
#include <vector>

#include "completion/grammar/call_grammar.hpp"
#include "completion/grammar/gbnf.hpp"
#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/schema_compiler.hpp"

namespace luce::completion {

namespace {

constexpr int kMostLineBreaks = 8;  // between reasoning and answer

class OutputGrammar {
 public:
  OutputGrammar(const ReplyPlan& plan, const OutputConstraint& output)
      : plan_(plan), output_(output), json_(builder_) {}

  /// Functions take any arguments.
  void ignore_schemas() { ignores_schemas_ = true; }

  GrammarProgram build() {
    const bool forced = forces_call();
    int answer = forced ? call() : formatted();
    if (plan_.chat && plan_.format->harmony) return builder_.finish(harmony(answer, forced));
    return builder_.finish(plan_.chat ? with_reasoning(answer) : answer);
  }

  bool forces_call() const {
    return plan_.tool_choice.mode == ToolMode::required || plan_.tool_choice.mode == ToolMode::named;
  }

 private:
  int formatted() {
    if (output_.format == OutputFormat::grammar) return compile_gbnf(builder_, output_.grammar, kReturn);
    if (output_.format == OutputFormat::json_object) return json_.object(kReturn);
    return SchemaCompiler(builder_, json_, output_.schema).compile(output_.schema, "schema", kReturn);
  }

  int call() {
    std::vector<int> branches;
    for (const auto& [function, parameters] : plan_.tools.all()) {
      const bool named = plan_.tool_choice.mode == ToolMode::named;
      if (!named || function == plan_.tool_choice.name) branches.push_back(call_of(function, parameters, named));
    }
    return builder_.any_of(std::move(branches));
  }

  // Where others can be called instead, a function with a schema that cannot be had takes any arguments, unless it is
  // strict.
  int call_of(const std::string& function, const Json& parameters, bool named) {
    const bool strict = plan_.tools.strict(function);
    CallGrammar calls(builder_, json_, plan_.format->form, strict ? SchemaDuty::all : SchemaDuty::possible);
    try {
      if (!ignores_schemas_ || strict) return calls.call(function, parameters, kReturn);
    } catch (const Error& error) {
      if (named || strict)
        throw Error(error.kind(), fmt::format("function \"{}\": {}", function, error.what()), "tools");
    }
    return calls.call(function, {{"type", "object"}, {"additionalProperties", true}}, kReturn);
  }

  int with_reasoning(int answer) {
    if (!plan_.starts_in_reasoning && !plan_.may_reason) return answer;
    const int line_break = builder_.rule(builder_.bytes(bytes_of("\r\n"), kReturn));
    const int after = builder_.repeat(line_break, 0, kMostLineBreaks, answer);
    const int reasoning = builder_.until(plan_.format->think_close, after);
    if (plan_.starts_in_reasoning) return reasoning;
    return builder_.any_of({answer, json_.space(builder_.literal(plan_.format->think_open, reasoning))});
  }

  int harmony(int answer, bool forced) {
    const int message = forced ? answer : builder_.literal("<|channel|>final<|message|>", answer);
    const int next_message = builder_.literal("<|start|>assistant", message);
    return builder_.any_of(
        {message, builder_.literal("<|channel|>analysis<|message|>", builder_.until("<|end|>", next_message))});
  }

  const ReplyPlan& plan_;
  const OutputConstraint& output_;
  GrammarBuilder builder_;
  JsonRules json_;
  bool ignores_schemas_ = false;
};

const char* param_of(const ReplyPlan& plan, const OutputConstraint& output) {
  if (plan.tool_choice.mode == ToolMode::required || plan.tool_choice.mode == ToolMode::named) return "tools";
  return output.format == OutputFormat::grammar ? "grammar" : "response_format";
}

}  // namespace

std::shared_ptr<const GrammarProgram> output_grammar(const ReplyPlan& plan, const OutputConstraint& output) {
  OutputGrammar grammar(plan, output);
  if (output.format == OutputFormat::text && !grammar.forces_call()) return nullptr;
  try {
    return std::make_shared<const GrammarProgram>(grammar.build());
  } catch (const Error& error) {
    if (plan.tool_choice.mode == ToolMode::required) {
      OutputGrammar loose(plan, output);
      loose.ignore_schemas();
      return std::make_shared<const GrammarProgram>(loose.build());
    }
    if (!error.param().empty() || error.kind() != ErrorKind::invalid_request) throw;
    std::string message = error.what();
    if (plan.tool_choice.mode == ToolMode::named)
      message = fmt::format("function \"{}\": {}", plan.tool_choice.name, message);
    throw Error(error.kind(), message, param_of(plan, output));
  }
}

}  // namespace luce::completion
