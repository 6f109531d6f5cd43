#include "completion/calls/argument_writer.hpp"

#include <utility>

namespace luce::completion {

namespace {

bool streams(const ValueRule& rule) { return rule.kind == ValueKind::text && !rule.allows_null; }

}  // namespace

ArgumentWriter::ArgumentWriter(const ToolSet& tools, std::string function, CallSink& sink)
    : tools_(tools), function_(std::move(function)), sink_(sink) {
  sink_.begin(function_);
  sink_.arguments("{");
}

void ArgumentWriter::begin_value(std::string_view parameter) {
  rule_ = tools_.rule(function_, parameter);
  sink_.arguments((first_ ? "" : ",") + json_quoted(parameter) + (streams(rule_) ? ":\"" : ":"));
  first_ = false;
  open_ = true;
}

void ArgumentWriter::text(std::string_view piece) {
  if (streams(rule_))
    sink_.arguments(json_escaped(piece));
  else
    whole_.append(piece);
}

void ArgumentWriter::end_value() {
  sink_.arguments(streams(rule_) ? "\"" : value_json(whole_, rule_));
  whole_.clear();
  open_ = false;
}

void ArgumentWriter::finish() {
  if (open_) end_value();
  sink_.arguments("}");
  sink_.end();
}

}  // namespace luce::completion
