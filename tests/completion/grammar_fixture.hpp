#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "completion/grammar/gbnf.hpp"
#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/machine.hpp"
#include "completion/grammar/schema_compiler.hpp"

namespace luce::completion {

inline std::shared_ptr<const GrammarProgram> schema_program(const Json& schema) {
  GrammarBuilder builder;
  JsonRules json(builder);
  const int start = SchemaCompiler(builder, json, schema).compile(schema, "schema", kReturn);
  return std::make_shared<const GrammarProgram>(builder.finish(start));
}

inline std::shared_ptr<const GrammarProgram> gbnf_program(const std::string& grammar) {
  GrammarBuilder builder;
  const int start = compile_gbnf(builder, grammar, kReturn);
  return std::make_shared<const GrammarProgram>(builder.finish(start));
}

inline bool matches(const std::shared_ptr<const GrammarProgram>& program, const std::string& text) {
  GrammarMachine machine(program);
  const int state = machine.after(machine.start(), text);
  return state != GrammarMachine::kDead && machine.accepts(state);
}

/// A random text of the grammar, ended as soon as it may be after `bytes`; empty if none is found in time.
inline std::string random_text_of(const std::shared_ptr<const GrammarProgram>& program, size_t bytes,
                                  std::mt19937& random) {
  GrammarMachine machine(program);
  int state = machine.start();
  std::string text;
  while (text.size() < 40 * bytes) {
    if (machine.accepts(state) && text.size() >= bytes) return text;
    std::vector<int> possible;
    for (int byte = 0; byte < 256; ++byte)
      if (machine.next(state, static_cast<uint8_t>(byte)) != GrammarMachine::kDead) possible.push_back(byte);
    // Closing brackets and quotes are preferred in the end, so that nesting ends.
    std::vector<int> closing;
    for (const int byte : possible)
      if (std::string("}]\"").find(static_cast<char>(byte)) != std::string::npos) closing.push_back(byte);
    if (text.size() >= bytes && !closing.empty()) possible = closing;
    if (possible.empty()) return machine.accepts(state) ? text : std::string();
    const int byte = possible[random() % possible.size()];
    text.push_back(static_cast<char>(byte));
    state = machine.next(state, static_cast<uint8_t>(byte));
  }
  return {};
}

}  // namespace luce::completion
