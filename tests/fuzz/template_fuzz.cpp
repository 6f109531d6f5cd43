// libFuzzer: any bytes as a chat template, rendered with a chat that has tools, calls and results. Good seeds are the
// files in tests/golden/templates.
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "text/jinja/template.hpp"

namespace {

using Json = nlohmann::ordered_json;

const Json& chat() {
  static const Json value = Json::parse(R"({
    "messages": [
      {"role": "system", "content": "s <|im_end|>"},
      {"role": "user", "content": "a {{ b }}\n\u00e4"},
      {"role": "assistant", "content": "<think>\nt\n</think>\n\nc", "tool_calls": [
        {"id": "call12345", "type": "function", "function": {"name": "f", "arguments": {"x": 1.5, "y": [null, true]}}}]},
      {"role": "tool", "tool_call_id": "call12345", "content": "r"}],
    "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters":
      {"type": "object", "properties": {"x": {"type": ["number", "null"]}, "y": {"type": "array"}}, "required": ["x"]}}}],
    "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true, "enable_thinking": false
  })");
  return value;
}

luce::text::jinja::Limits limits() {
  luce::text::jinja::Limits small;
  small.steps = 200'000;
  small.memory_bytes = 16u << 20;
  small.string_bytes = 4u << 20;
  return small;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<luce::text::jinja::Input> inputs;
  for (const auto& [name, value] : chat().items()) inputs.push_back({name, value});
  try {
    const luce::text::jinja::Template parsed(std::string_view(reinterpret_cast<const char*>(data), size));
    parsed.render(inputs, std::tm{}, limits());
  } catch (const luce::Error&) {
    // Broken templates are refused; only crashes and hangs count.
  }
  return 0;
}
