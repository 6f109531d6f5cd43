// libFuzzer: any bytes as a JSON schema or a GBNF grammar; then some text is followed through what was built.
#include <cstddef>
#include <cstdint>
#include <string>

#include "completion/grammar/gbnf.hpp"
#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/machine.hpp"
#include "completion/grammar/schema_compiler.hpp"

namespace {

using namespace luce::completion;

std::shared_ptr<const GrammarProgram> build(const std::string& source, bool gbnf) {
  GrammarBuilder builder;
  if (gbnf) {
    const int start = compile_gbnf(builder, source, kReturn);
    return std::make_shared<const GrammarProgram>(builder.finish(start));
  }
  const Json schema = Json::parse(source, nullptr, false);
  if (schema.is_discarded()) return nullptr;
  JsonRules json(builder);
  const int start = SchemaCompiler(builder, json, schema).compile(schema, "schema", kReturn);
  return std::make_shared<const GrammarProgram>(builder.finish(start));
}

// Always the first byte that is allowed, from a place that moves on.
void follow(const std::shared_ptr<const GrammarProgram>& program) {
  GrammarMachine machine(program);
  int state = machine.start();
  for (int step = 0; step < 200 && state != GrammarMachine::kDead; ++step) {
    int next = GrammarMachine::kDead;
    for (int i = 0; i < 256 && next == GrammarMachine::kDead; ++i)
      next = machine.next(state, static_cast<uint8_t>(i + 37 * step));
    state = machine.trim(next);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string source(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (const auto program = build(source, data[0] & 1)) follow(program);
  } catch (const luce::Error&) {
  }
  return 0;
}
