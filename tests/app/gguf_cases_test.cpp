// cases/gguf.jsonl as the whole program meets them: how it ends, what it says, how much memory it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/child_process.hpp"
#include "support/gguf_edit.hpp"
#include "support/golden_path.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using nlohmann::json;
using support::GgufEdit;
using support::ProcessResult;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, json>& all_cases() {
  static const std::map<std::string, json> cases = [] {
    std::map<std::string, json> read;
    std::ifstream in(support::golden_path("cases/gguf.jsonl"));
    for (std::string line; std::getline(in, line);) {
      json parsed = json::parse(line);
      read.emplace(parsed.at("id").get<std::string>(), parsed);
    }
    return read;
  }();
  return cases;
}

std::string base_model(const std::string& name) { return support::golden_path("models/" + name + "-nano-f32.gguf"); }

std::string unhex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// Starts the server with the file; it must refuse it by itself, in one sentence.
std::string refusal(const std::string& path) {
  const ProcessResult result = support::run_luce_spark({"serve", "--model", path, "--port", "0", "--metrics-port", "0"},
                                                       std::chrono::seconds(20));
  EXPECT_EQ(result.exit_code, 1) << "signal " << result.signal << ", said " << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, Not(HasSubstr("Sanitizer")));
  EXPECT_TRUE(support::kSanitized || result.peak_resident_bytes < int64_t{256} << 20) << result.peak_resident_bytes;
  return result.err;
}

/// The greedy continuation of a fixed text.
ProcessResult greedy(const std::string& path) {
  return support::run_luce_spark({"run", "--model", path, "--raw", "-p", "alpha beta gamma", "--temperature", "0",
                                  "--max-tokens", "16", "--ctx-size", "256"});
}

TEST(GgufFiles, EveryHandmadeFileIsRefusedByTheServer) {
  const support::TemporaryFolder folder;
  int tried = 0;
  for (const auto& [id, each] : all_cases()) {
    if (id == "metadata-checks-stay-fast" || !each.at("given").contains("files")) continue;
    for (const json& file : each.at("given").at("files")) {
      SCOPED_TRACE(id + " " + file.value("what", ""));
      if (file.contains("make")) continue;  // built by the reader's own test
      std::string content = file.contains("hex") ? unhex(file.at("hex")) : file.at("text").get<std::string>();
      content += std::string(file.value("then_zero_bytes", size_t{0}), '\0');
      EXPECT_THAT(refusal(folder.write("case.gguf", content)), HasSubstr("case.gguf"));
      ++tried;
    }
  }
  EXPECT_GE(tried, 30);
}

TEST(GgufFiles, HyperparametersOutOfRangeNameTheKeyOrTheTensor) {
  const support::TemporaryFolder folder;
  const json& given = all_cases().at("hyperparameters-out-of-range").at("given");
  for (const json& change : given.at("changes")) {
    const auto key = change.at("key").get<std::string>();
    SCOPED_TRACE(change.dump());
    GgufEdit edit(base_model("qwen35moe"));
    edit.metadata.set_u32("qwen35moe." + key, change.at("u32").get<uint32_t>());
    EXPECT_THAT(refusal(edit.save(folder.path("changed.gguf"))), AnyOf(HasSubstr(key), HasSubstr("tensor ")));
  }
}

TEST(GgufFiles, MissingTensorsAreNamed) {
  const support::TemporaryFolder folder;
  GgufEdit missing(base_model("qwen35moe"));
  missing.remove_tensor("blk.2.ffn_up_exps.weight");
  EXPECT_THAT(refusal(missing.save(folder.path("missing.gguf"))), HasSubstr("blk.2.ffn_up_exps.weight"));

  GgufEdit renamed(base_model("qwen35moe"));
  renamed.rename_tensor("blk.1.attn_gate.weight", "blk.1.attn_gate_x.weight");
  EXPECT_THAT(refusal(renamed.save(folder.path("renamed.gguf"))), HasSubstr("blk.1.attn_gate.weight"));

  GgufEdit no_router(base_model("qwen3moe"));
  no_router.remove_tensor("blk.0.ffn_gate_inp.weight");
  EXPECT_THAT(refusal(no_router.save(folder.path("router.gguf"))),
              AllOf(HasSubstr("blk.0.ffn_gate_inp.weight"), Not(HasSubstr("ffn_up.weight")),
                    Not(HasSubstr("truncated")), Not(HasSubstr("corrupt"))));
}

TEST(GgufFiles, ExtraTensorsAreCountedAndChangeNothing) {
  const support::TemporaryFolder folder;
  GgufEdit edit(base_model("qwen35moe"));
  edit.add_random_f32("v.patch_embd.weight", {4, 4}, 1);
  edit.add_random_f32("blk.4.nextn.eh_proj.weight", {4, 4}, 2);
  const ProcessResult extra = greedy(edit.save(folder.path("extra.gguf")));
  EXPECT_EQ(extra.exit_code, 0) << extra.err;
  EXPECT_THAT(extra.err, HasSubstr("2 tensors"));
  EXPECT_EQ(extra.out, greedy(base_model("qwen35moe")).out);
  EXPECT_GT(extra.out.size(), 5U);
}

TEST(GgufFiles, TiedWeightsAreUsedWithANote) {
  const support::TemporaryFolder folder;
  GgufEdit edit(base_model("qwen35moe"));
  edit.remove_tensor("output.weight");
  const ProcessResult tied = greedy(edit.save(folder.path("tied.gguf")));
  EXPECT_EQ(tied.exit_code, 0) << tied.err;
  EXPECT_THAT(tied.err, AllOf(HasSubstr("output.weight"), HasSubstr("token_embd.weight")));
}

TEST(GgufFiles, ShardsGiveTheOutputOfTheWhole) {
  const support::TemporaryFolder folder;
  const GgufEdit edit(base_model("qwen3moe"));
  const std::string first = edit.save(folder.path("m.gguf"), 3);
  const ProcessResult whole = greedy(base_model("qwen3moe"));
  EXPECT_EQ(greedy(first).out, whole.out);
  EXPECT_GT(whole.out.size(), 5U);
}

TEST(GgufFiles, UnknownArchitectureNamesTheKnownOnes) {
  const support::TemporaryFolder folder;
  const json& files = all_cases().at("unknown-architecture").at("given").at("files");
  EXPECT_THAT(refusal(folder.write("a.gguf", unhex(files[0].at("hex")))),
              AllOf(HasSubstr("qwen99moe"), HasSubstr("qwen35moe")));
  EXPECT_THAT(refusal(folder.write("b.gguf", unhex(files[1].at("hex")))), HasSubstr("general.architecture"));
}

TEST(GgufFiles, ExpertOptionsOnADenseModelAreRefusedOrReported) {
  const support::TemporaryFolder folder;
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--gpu-cache-experts", "4"},
                                                  {"--expert-share", "50%"},
                                                  {"--route-trace", folder.path("trace.lrt")}}) {
    std::vector<std::string> command = {
        support::luce_spark(), "serve", "--model", base_model("qwen3"), "--port", "0", "--metrics-port", "0",
        "--ctx-size",          "256"};
    command.insert(command.end(), options.begin(), options.end());
    support::ChildProcess server(command);
    server.wait_for_error_text("ready", std::chrono::seconds(10));
    server.send(SIGTERM);
    const ProcessResult result = server.wait(std::chrono::seconds(10));
    EXPECT_THAT(result.err, AllOf(HasSubstr(options.front()), HasSubstr("qwen3")));
    EXPECT_EQ(result.signal, 0);
  }
}

}  // namespace
}  // namespace luce::app_test
