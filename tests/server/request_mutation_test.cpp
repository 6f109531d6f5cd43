// Thousands of damaged request bodies: each is either taken or refused as the client's fault, quickly.
#include <chrono>
#include <random>

#include "base/error.hpp"
#include "base/memory_limit.hpp"
#include "server/chat_request.hpp"
#include "server/completion_request.hpp"
#include "server/json_limits.hpp"
#include "server/server_fixture.hpp"
#include "support/mutation_rounds.hpp"

namespace luce::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr RequestBounds kBounds{2048, 8};

std::vector<std::string> seeds() {
  return {
      R"({"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"\u00e9\ud83e\udd99"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true},"max_tokens":2})",
      R"({"messages":[{"role":"user","content":"hi","session_id":"s"}],"temperature":0.7,"top_p":0.9,"top_k":40,"min_p":0.1,"presence_penalty":0.5,"frequency_penalty":-0.5,"repeat_penalty":1.1,"seed":7,"n":2,"stop":["a","b"],"logit_bias":{"5":-1.5},"logprobs":true,"top_logprobs":2,"metadata":{"session_id":"x","task_tag":"t"},"response_format":{"type":"text"},"chat_template_kwargs":{"enable_thinking":false},"max_completion_tokens":2})",
      R"({"prompt":["abc",[1,2,3]],"max_tokens":2,"logprobs":2,"echo":true,"suffix":null,"best_of":1,"stop":"x"})",
      R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"number","minimum":0.5,"maximum":9},"b":{"oneOf":[{"const":"x"},{"type":"array","items":{"$ref":"#/$defs/c"},"uniqueItems":true}]}},"required":["a"],"$defs":{"c":{"enum":[1,2,3]}}}}}})"};
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(const std::string& body) {
    std::string out = body;
    for (size_t edits = 1 + pick(3); edits > 0 && !out.empty(); --edits) edit(out);
    return out;
  }

 private:
  size_t pick(size_t below) { return random_() % below; }

  void edit(std::string& text) {
    static const std::vector<std::string> kPieces = {
        "null",       "true",    "-1",      "1e308", "99999999999999999999", "\"\"", "[]", "{}", "[[",
        "}}",         "\\u0000", "\\ud800", "\xff",  "\"messages\":",        ",",    ":",  "\"", "0.5",
        "\"role\":7,"};
    const size_t at = pick(text.size());
    switch (pick(5)) {
      case 0: text[at] = static_cast<char>(random_()); break;
      case 1: text.erase(at, 1 + pick(12)); break;
      case 2: text.insert(at, kPieces[pick(kPieces.size())]); break;
      case 3: text.insert(at, text.substr(pick(text.size()), 1 + pick(40))); break;
      default: replace_value(text, kPieces[pick(kPieces.size())]); break;
    }
  }

  /// Puts a piece in the place of what stands between some colon and the next comma.
  void replace_value(std::string& text, const std::string& piece) {
    const size_t colon = text.find(':', pick(text.size()));
    if (colon == std::string::npos) return;
    const size_t end = std::min(text.find_first_of(",}]", colon), text.size());
    text.replace(colon + 1, end - colon - 1, piece);
  }

  std::mt19937 random_;
};

TEST(RequestMutation, BodiesAreTakenOrRefusedAsFaultsOfTheClient) {
  const RunningServer server;
  Mutator mutator(2024);
  size_t taken = 0;
  size_t refused = 0;
  const size_t rounds = support::mutation_rounds(6000);
  const int64_t before = base::resident_bytes();
  for (size_t round = 0; round < rounds; ++round) {
    const std::string body = mutator.mutate(seeds()[round % seeds().size()]);
    const auto begin = Clock::now();
    try {
      Json parsed = parse_json_object(body);
      if (round % seeds().size() == 2) {
        parse_completion_request(parsed, kBounds);
      } else {
        const ChatRequest request = parse_chat_request(std::move(parsed), kBounds);
        server.completer().prepare(request.input, request.settings);
      }
      ++taken;
    } catch (const Error& error) {
      EXPECT_THAT(base::traits(error.kind()).http_status, testing::AllOf(testing::Ge(400), testing::Lt(500))) << body;
      ++refused;
    }
    ASSERT_LT(Clock::now() - begin, std::chrono::seconds(2)) << body;
  }
  EXPECT_GT(taken, rounds / 30);
  EXPECT_GT(refused, rounds / 6);
  EXPECT_LT(base::resident_bytes() - before, support::kMostMutationBytes);
}

TEST(RequestMutation, ARunningServerAnswersThemAll) {
  const RunningServer server;
  Mutator mutator(7);
  const size_t rounds = support::mutation_rounds(600);
  for (size_t round = 0; round < rounds; ++round) {
    const size_t kind = round % seeds().size();
    const std::string path = kind == 2 ? "/v1/completions" : "/v1/chat/completions";
    std::string body = mutator.mutate(seeds()[kind]);
    if (body.find("max_") == std::string::npos) continue;
    const HttpReply reply = server.post_raw(path, body);
    ASSERT_THAT(reply.status, testing::AnyOf(200, 400)) << body << reply.body;
    ASSERT_TRUE(reply.complete) << body;
  }
  server.expect_alive();
}

}  // namespace
}  // namespace luce::server
