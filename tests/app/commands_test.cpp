// The program as a user runs it: exit codes, help, one sentence on errors, what goes to which stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

using nlohmann::json;
using support::ProcessResult;
using support::run_luce_spark;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kCommands = {"serve",  "run",      "bench",    "replay", "inspect",
                                            "logits", "tokenize", "template", "plan"};

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string demo() { return support::source_path("models/demo-q4_k_m.gguf"); }

/// One line on stderr, nothing on stdout.
void expect_one_sentence(const ProcessResult& result, int exit_code) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("luce-spark: "), EndsWith("\n")));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(Commands, EachHasHelpAndVersion) {
  EXPECT_THAT(run_luce_spark({"--version"}).out, StartsWith("luce-spark "));
  const std::string overview = run_luce_spark({"--help"}).out;
  for (const std::string& command : kCommands) {
    EXPECT_THAT(overview, HasSubstr("\n  " + command + " "));
    const ProcessResult help = run_luce_spark({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Usage: luce-spark " + command));
    EXPECT_EQ(run_luce_spark({command, "--version"}).out, run_luce_spark({"--version"}).out) << command;
  }
  EXPECT_THAT(run_luce_spark({"serve", "--help"}).out,
              AllOf(HasSubstr("--port PORT [8000]"), HasSubstr("(YAML: server.port)"), HasSubstr("LUCE_")));
}

TEST(Commands, WrongUsageIsTwoAndSaysWhatWasMeant) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"srve"},
                                             {"serve", "--prot", "1"},
                                             {"serve", "--port", "x"},
                                             {"inspect"},
                                             {"inspect", "a", "b"},
                                             {"replay", "x.lrt", "--streams", "0"},
                                             {"bench", "--concurrency", "0"},
                                             {"template", "--messages", "x"},
                                             {"serve", "--config", "/nonexistent/luce.yaml"},
                                             {"run", "--temperature", "hot"}})
    expect_one_sentence(run_luce_spark(arguments), 2);
  EXPECT_THAT(run_luce_spark({"srve"}).err, HasSubstr("'serve'"));
  EXPECT_THAT(run_luce_spark({"serve", "--prot", "1"}).err, HasSubstr("'--port'"));
}

TEST(Commands, FailedTasksAreOne) {
  const support::TemporaryFolder folder;
  const std::string nonsense = folder.write("nonsense.gguf", std::string_view("not a model"));
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"inspect", "/nonexistent.gguf"},
           {"inspect", nonsense},
           {"tokenize", nonsense, "--text-file", nonsense},
           {"run", "--model", "no-such-model", "-p", "x"},
           {"replay", nonsense},
           {"serve", "--device", "vulkan"},
           {"logits", demo(), "--tokens", "/nonexistent", "--output", folder.path("x")},
           {"template", demo(), "--messages", nonsense},
           {"bench", "--replay-routing", "x.lrt"}})
    expect_one_sentence(run_luce_spark(arguments), 1);
}

TEST(Commands, InspectTellsTheFileAsTableAndJson) {
  const ProcessResult table = run_luce_spark({"inspect", demo()});
  EXPECT_THAT(table.out, AllOf(HasSubstr("64 per layer, 4 used per token"), HasSubstr("general.architecture"),
                               HasSubstr("blk.0.ffn_down_exps.weight")));
  const json body = json::parse(run_luce_spark({"inspect", demo(), "--json"}).out);
  EXPECT_EQ(body["metadata"]["general.architecture"], "qwen3moe");
  EXPECT_EQ(body["experts"]["count"], 64);
  EXPECT_EQ(body["tensors"].size(), 75U);
}

TEST(Commands, InspectTellsTheKernelOfEachTensor) {
  const ProcessResult result = run_luce_spark({"inspect", demo(), "--json", "--kernels", "--isa", "portable"});
  const json body = json::parse(result.out);
  size_t in_panels = 0;
  for (const json& tensor : body["tensors"]) {
    const std::string kernel = tensor["kernel"];
    EXPECT_FALSE(kernel.empty());
    if (kernel.find("8-bit activations") != std::string::npos) {
      ++in_panels;
      EXPECT_EQ(kernel.find("portable " + tensor["format"].get<std::string>()), 0U);
    }
    if (tensor["shape"].size() == 1) {
      EXPECT_EQ(kernel, "values in F32");
    }
  }
  EXPECT_GT(in_panels, 20U);
  EXPECT_EQ(run_luce_spark({"inspect", demo(), "--isa", "portable"}).exit_code, 2);
}

TEST(Commands, TokenizeAndTemplate) {
  const support::TemporaryFolder folder;
  const std::string text = folder.write("text", std::string_view("<|im_start|>hi"));
  EXPECT_NE(run_luce_spark({"tokenize", demo(), "--text-file", text}).out,
            run_luce_spark({"tokenize", demo(), "--text-file", text, "--parse-special"}).out);
  const std::string chat = folder.write("chat.json", std::string_view(R"([{"role":"user","content":"hi"}])"));
  EXPECT_EQ(run_luce_spark({"template", demo(), "--messages", chat}).out,
            "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  const std::string source =
      folder.write("t.jinja", std::string_view("{% for m in messages %}[{{ m.content }}]{% endfor %}"));
  EXPECT_EQ(run_luce_spark({"template", "--template", source, "--messages", chat}).out, "[hi]");
}

TEST(Commands, LogitsOfEveryPosition) {
  const support::TemporaryFolder folder;
  const std::string model = support::golden_path("models/qwen3moe-nano-f32.gguf");
  const std::string tokens = support::golden_path("logits/tokens48.txt");
  const auto write = [&](const char* share) {
    const std::string output = folder.path(std::string("logits") + share);
    EXPECT_EQ(
        run_luce_spark({"logits", model, "--tokens", tokens, "--output", output, "--expert-share", share}).exit_code,
        0);
    return read_file(output);
  };
  const std::string all = write("100%");
  EXPECT_EQ(all.size(), 48U * 2048U * 4U);
  EXPECT_EQ(write("0%"), all);
}

TEST(Commands, ReplayAgreesWithTheGoldenRow) {
  const json body = json::parse(
      run_luce_spark({"replay", support::golden_path("traces/deepseek-v2-lite_switch4.lrt"), "--slots", "8", "--json"})
          .out);
  EXPECT_EQ(body["accesses"], 239616);
  EXPECT_EQ(body["hits"], 80892);
  EXPECT_EQ(body["uploads"], 158724);
  for (const char* key : {"trace", "policy", "slots_per_layer", "streams", "hit_ratio"})
    EXPECT_TRUE(body.contains(key));
  EXPECT_EQ(body["misses"], 239616 - 80892);
  EXPECT_NEAR(body["fetches_per_token"], 158724 / 1536.0, 1e-9);
  const double opt = body["opt"]["hit_ratio"];
  EXPECT_GT(opt, body["hit_ratio"]);
  EXPECT_NEAR(body["gap_to_opt"], opt - body["hit_ratio"].get<double>(), 1e-12);
  ASSERT_EQ(body["more_slots"].size(), 4U);
  double before = body["hit_ratio"];
  for (const json& row : body["more_slots"]) {
    EXPECT_GT(row["hit_ratio"], before) << row;
    before = row["hit_ratio"];
  }
  EXPECT_EQ(body["more_slots"][3]["slots_per_layer"], 24);
}

TEST(Commands, BenchGivesSpeedBesideBandwidth) {
  const ProcessResult result =
      run_luce_spark({"bench", "--model", demo(), "--prompt-tokens", "64", "--gen-tokens", "8", "--repeat", "3",
                      "--concurrency", "1,2", "--expert-share", "30%", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json body = json::parse(result.out);
  ASSERT_EQ(body["results"].size(), 3U);
  for (const json& each : body["results"]) {
    EXPECT_GT(each["tokens_per_second"], 0);
    EXPECT_GT(each["gb_per_second"], 0);
    EXPECT_GT(each["share_of_bandwidth"], 0);
  }
}

TEST(Commands, PlanChecksItsPromises) {
  const json body = json::parse(run_luce_spark({"plan", demo(), "--check", "--expert-share", "25%", "--json"}).out);
  const json& check = body["check"];
  EXPECT_GT(check["tokens_per_second"], 0);
  EXPECT_GT(check["hit_ratio"], 0);
  EXPECT_LT(check["hit_ratio"], 1);
  EXPECT_GT(check["resident_bytes"], body["parts"]["dense weights"]);
  EXPECT_TRUE(support::kSanitized || check["resident_bytes"] < body["budget_bytes"]) << body;
}

TEST(Commands, PlanTellsWhatFitsWithoutLoading) {
  const ProcessResult table =
      run_luce_spark({"plan", demo(), "--ram-memory", support::kSanitized ? "512MiB" : "64MiB", "--ctx-size", "512"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("dense weights"), HasSubstr("expert slots")));
  const json body = json::parse(run_luce_spark({"plan", demo(), "--json", "--assume", "10GB/s,1GB/s"}).out);
  EXPECT_EQ(body["experts"]["total"], 384);
  EXPECT_GT(body["tokens_per_second"], 0);
  EXPECT_FALSE(body.contains("check"));
  expect_one_sentence(run_luce_spark({"plan", demo(), "--ram-memory", "1MiB"}), 1);
}

TEST(Commands, RunAnswersOnePromptAndTellsTheCacheFiguresApart) {
  const ProcessResult result = run_luce_spark(
      {"run", "-p", "Was ist python3-numpy?", "--temperature", "0", "--max-tokens", "12", "--expert-share", "50%"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("Python-3-Modul"));
  EXPECT_THAT(result.err, AllOf(StartsWith("No --model is given, so the demo model answers"), HasSubstr("hits"),
                                HasSubstr("misses"), HasSubstr("fetched"), HasSubstr("GB/s")));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace luce::app_test
