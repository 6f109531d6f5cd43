// What users of the program rely on, run as it is written: settings file, commands, metrics query, warm-up script and
// Python client, with the demo model under the name that is used there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/child_process.hpp"
#include "support/golden_path.hpp"
#include "support/http_client.hpp"
#include "support/temporary_folder.hpp"

namespace luce::app_test {
namespace {

namespace fs = std::filesystem;
using support::ChildProcess;
using support::ProcessResult;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSettings = R"(model: qwen3.6-35b-a3b
server: { host: 127.0.0.1, port: 8000 }
spark:
  gpu_memory_limit_gib: 14
  gpu_cache:
    max_experts: 8            # resident experts per layer; auto fills the budget
    eviction_policy: lru      # or hot-score (the default)
    warmup_tokens: 20000      # no strict eviction decisions (admission gate, bias, re-placement) before
router:
  profile_path: ./router_state.json
  stats_window: 10000         # tokens over which usage is judged
  hot_bias: 0.0               # 0 = exact
  balance_penalty: 0.02       # acts only on what hot_bias caused
  # top_k, temperature: change the model's answers; off unless set
monitor: { enable_prometheus: true, metrics_port: 9100, log_interval_sec: 5 }
)";

constexpr const char* kPythonClient = R"(
import requests
reply = requests.post("http://localhost:8000/v1/chat/completions", json={
    "model": "qwen3.6-35b-a3b",
    "messages": [{"role": "user", "content": "Was ist python3-numpy?", "session_id": "abc"}],
    "metadata": {"session_id": "abc", "task_tag": "rag_qa"},
    "max_tokens": 8,
}, timeout=60)
reply.raise_for_status()
body = reply.json()
print(body["choices"][0]["message"]["role"], body["usage"]["completion_tokens"], sorted(body["timings"]["experts"]))
)";

// requests.post() for machines that lack the package; written to a file of that name only there.
constexpr const char* kRequestsStandIn = R"(
import json, urllib.request
class Reply:
    def __init__(self, text): self.text = text
    def raise_for_status(self): pass
    def json(self): return json.loads(self.text)
def post(url, json, timeout):
    data = __import__("json").dumps(json).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer: return Reply(answer.read().decode())
)";

bool port_is_free(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return free;
}

/// Another test of this kind may be running on the machine.
bool port_becomes_free(int port) {
  for (int tries = 0; tries < 900; ++tries) {
    if (port_is_free(port)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

/// A folder as a user would have it: the program, the model by its name, the script, the settings.
class Interface : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path("bin"));
    fs::create_directories(folder_.path("models"));
    fs::create_symlink(support::luce_spark(), folder_.path("bin/luce-spark"));
    const std::string demo = support::source_path("models/demo-q4_k_m.gguf");
    fs::create_symlink(demo, folder_.path("models/qwen3.6-35b-a3b.gguf"));
    fs::copy_file(support::source_path("warmup.py"), folder_.path("warmup.py"));
    fs::copy_file(support::source_path("models/demo-routing.lrt"), folder_.path("FILE.lrt"));
    folder_.write("luce.yaml", kSettings);
    folder_.write("client.py", kPythonClient);
    if (shell("command -v python").exit_code != 0)  // Debian calls it python3
      fs::create_symlink("/usr/bin/python3", folder_.path("bin/python"));
    if (shell("python -c 'import requests'").exit_code != 0) folder_.write("requests.py", kRequestsStandIn);
  }
  /// A command line as it is written, in that folder.
  std::vector<std::string> words(const std::string& line) const {
    return {"/bin/sh", "-c", "cd '" + folder_.path() + "' && PATH=\"$PWD/bin:$PATH\" && " + line};
  }
  std::vector<std::string> environment() const { return {"LUCE_MODELS=" + folder_.path("models")}; }
  ProcessResult shell(const std::string& line) const {
    return ChildProcess(words(line), environment()).wait(std::chrono::seconds(120));
  }
  std::string run(const std::string& line) const {
    const ProcessResult result = shell(line);
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
    return result.out;
  }
  support::TemporaryFolder folder_;
};

TEST_F(Interface, TheServerItsSettingsAndItsClientsRunAsWritten) {
  for (const int port : {8000, 9100})
    ASSERT_TRUE(port_becomes_free(port)) << "port " << port
                                         << " is in use on this machine, and this test needs it: the "
                                         << "interface names it. End what listens there and run the test again.";
  ChildProcess server(words("exec luce-spark serve --config luce.yaml"), environment());
  ASSERT_TRUE(server.wait_for_error_text("ready: http://127.0.0.1:8000/v1", std::chrono::seconds(30)))
      << server.error_text();
  ASSERT_TRUE(server.wait_for_error_text("cache is warm", std::chrono::seconds(30)));

  // Each key has its effect, or its reason why it has none.
  EXPECT_THAT(server.error_text(),
              AllOf(HasSubstr("experts: 48 of 384 resident"), HasSubstr("8 slots per layer, top 4, evicted by lru"),
                    HasSubstr("--gpu-memory is inactive: no GPU is in use"),
                    HasSubstr("--balance-penalty is inactive: no bias"), Not(HasSubstr("hot-bias")),
                    Not(HasSubstr("warmup-tokens"))));
  EXPECT_THAT(run("curl -s localhost:8000/health"),
              AllOf(HasSubstr("\"status\":\"ok\""), HasSubstr("router-profile-path")));

  const std::string query = run("curl localhost:9100/metrics | grep gpu_cache");
  EXPECT_THAT(query, AllOf(HasSubstr("luce_gpu_cache_expert_count{device=\"cpu\"} 48"),
                           HasSubstr("luce_gpu_cache_hit_ratio{device=\"cpu\"}")));
  EXPECT_EQ(run("python client.py"),
            "assistant 8 ['bytes_fetched', 'dropped', 'hits', 'misses', 'reweighted', 'stall_ms', 'substituted']\n");
  for (const char* const line :
       {"luce-spark warmup --endpoint http://localhost:8000", "python warmup.py --endpoint http://localhost:8000"}) {
    const std::string said = run(line);
    EXPECT_THAT(said, AllOf(HasSubstr("hit ratio before: "), HasSubstr("hit ratio after: "), HasSubstr("code, Python"),
                            HasSubstr("these 12 prompts: "), Not(HasSubstr("unknown")), Not(HasSubstr("none"))));
  }
  EXPECT_THAT(run("curl -s localhost:9100/metrics"),
              AllOf(HasSubstr("luce_router_labels{kind=\"task_tag\"} 1"),
                    HasSubstr("luce_router_labels{kind=\"session_id\"} 1"), HasSubstr("luce_router_expert_usage{"),
                    HasSubstr("luce_inference_latency_ms_bucket{"), HasSubstr("luce_time_to_first_token_ms_bucket{"),
                    HasSubstr("luce_gpu_memory_used_bytes{"), HasSubstr("luce_ram_usage_bytes")));
  EXPECT_TRUE(server.wait_for_error_text("tokens/s, prompt", std::chrono::seconds(10)));  // every five seconds
  server.send(SIGTERM);
  EXPECT_EQ(server.wait(std::chrono::seconds(10)).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_.path("router_state.json")));
}

TEST_F(Interface, TheOtherCommandsRunAsWritten) {
  folder_.write("IDS.txt", "1 2 3 4 5 6 7 8");
  folder_.write("F", "Was ist python3-numpy?");
  folder_.write("T.jinja", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
  folder_.write("CASE.json", R"({"messages": [{"role": "user", "content": "hi"}]})");
  EXPECT_NE(run("luce-spark run --model qwen3.6-35b-a3b -p 'Was ist python3-numpy?' --max-tokens 8"), "");
  EXPECT_NE(run("luce-spark run --model qwen3.6-35b-a3b --raw -p 'Package: ' --max-tokens 8"), "");
  EXPECT_THAT(run("luce-spark plan qwen3.6-35b-a3b --gpu-memory 14GiB --ram-memory 1GiB --ctx-size 512"),
              HasSubstr("it fits"));
  EXPECT_THAT(run("luce-spark plan qwen3.6-35b-a3b --ctx-size 512 --check --json"), HasSubstr("\"check\""));
  EXPECT_THAT(run("luce-spark plan qwen3.6-35b-a3b --assume 40GB/s,3GB/s --json"), HasSubstr("\"tokens_per_second\""));
  EXPECT_THAT(
      run("luce-spark bench --model qwen3.6-35b-a3b --prompt-tokens 16 --gen-tokens 4 --depth 8 --concurrency 1,2 "
          "--repeat 1 --json"),
      HasSubstr("{"));
  EXPECT_NE(
      run("luce-spark bench --model qwen3.6-35b-a3b --prompt-tokens 16 --gen-tokens 4 --repeat 1 --replay-routing "
          "FILE.lrt"),
      "");
  EXPECT_THAT(run("luce-spark replay FILE.lrt --policy lru --slots 25% --streams 1 --json"),
              HasSubstr("\"hit_ratio\":"));
  for (const char* const policy : {"hot-score", "hot-score-gated", "decay:16", "decay-gated:32", "class-lru:128",
                                   "age-crf:64", "lfu", "opt", "opt-bypass"})
    EXPECT_THAT(run(std::string("luce-spark replay FILE.lrt --slots 32 --json --policy ") + policy),
                HasSubstr("\"slots_per_layer\":32"));
  EXPECT_THAT(run("luce-spark inspect models/qwen3.6-35b-a3b.gguf --json"), HasSubstr("{"));
  run("luce-spark logits models/qwen3.6-35b-a3b.gguf --tokens IDS.txt --output OUT.f32 --expert-share 30%");
  EXPECT_GT(fs::file_size(folder_.path("OUT.f32")), 8U * 1000U);
  EXPECT_NE(run("luce-spark tokenize models/qwen3.6-35b-a3b.gguf --text-file F --parse-special"), "");
  EXPECT_NE(run("luce-spark template models/qwen3.6-35b-a3b.gguf --messages CASE.json"), "");
  EXPECT_THAT(run("luce-spark template --template T.jinja --messages CASE.json"), HasSubstr("<user>hi"));
}

TEST_F(Interface, MistakesInTheSettingsNameLineAndNearestKey) {
  const auto complaint = [this](const std::string& from, const std::string& to) {
    std::string text = kSettings;
    text.replace(text.find(from), from.size(), to);
    folder_.write("luce.yaml", text);
    const ProcessResult result = shell("luce-spark serve --config luce.yaml");
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(complaint("max_experts:", "max_expert:"),
              AllOf(HasSubstr("luce.yaml line 6"), HasSubstr("'spark.gpu_cache.max_experts'")));
  EXPECT_THAT(complaint("stats_window:", "stat_window:"),
              AllOf(HasSubstr("luce.yaml line 11"), HasSubstr("'router.stats_window'")));
  EXPECT_THAT(complaint("eviction_policy: lru", "eviction_policy: fifo"),
              AllOf(HasSubstr("luce.yaml line 7"), HasSubstr("lru, hot-score")));
  EXPECT_THAT(complaint("log_interval_sec: 5", "log_interval_sec: soon"), HasSubstr("luce.yaml line 15"));
}

TEST_F(Interface, WarmingUpWithoutAServerSaysWhatToDo) {
  for (const char* const line :
       {"luce-spark warmup --endpoint http://localhost:1", "python warmup.py --endpoint http://localhost:1"}) {
    const ProcessResult result = shell(line);
    EXPECT_EQ(result.exit_code, 1) << line;
    EXPECT_THAT(result.err, AllOf(HasSubstr("http://localhost:1"), HasSubstr("is luce-spark serve running there?")));
  }
  EXPECT_EQ(shell("luce-spark warmup --endpoint localhost:8000").exit_code, 2);
  EXPECT_EQ(shell("luce-spark warmup --prompts nowhere.txt").exit_code, 2);
}

}  // namespace
}  // namespace luce::app_test
