// Files that hold the same weights in another way compute the same logits, bit for bit.
#include <gtest/gtest.h>

#include "model/loaded_model.hpp"
#include "model/logits.hpp"
#include "support/gguf_edit.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::model_test {
namespace {

std::vector<float> prompt_logits(const std::string& path) {
  LoadedModel loaded(path, {.kv_format = tensor::Format::f32, .expert_share = 0.3});
  return loaded.logits(0, read_tokens(support::golden_path("logits/tokens48.txt")), 0, 48);
}

class RewrittenFile : public testing::TestWithParam<std::string> {
 protected:
  std::string original() const { return support::golden_path("models/" + GetParam() + ".gguf"); }
  support::TemporaryFolder folder_;
};

TEST_P(RewrittenFile, FusedGateAndUp) {
  support::GgufEdit edit(original());
  edit.fuse_gate_up();
  ASSERT_FALSE(edit.has_tensor("blk.0.ffn_gate_exps.weight"));
  EXPECT_EQ(prompt_logits(edit.save(folder_.path("fused.gguf"))), prompt_logits(original()));
}

TEST_P(RewrittenFile, MultiTokenPredictionBlockIsIgnored) {
  support::GgufEdit edit(original());
  const size_t tensors_before = edit.tensors.size();
  edit.add_mtp_block(5);
  ASSERT_GT(edit.tensors.size(), tensors_before);
  EXPECT_EQ(prompt_logits(edit.save(folder_.path("mtp.gguf"))), prompt_logits(original()));
}

TEST_P(RewrittenFile, SplitInThree) {
  const support::GgufEdit edit(original());
  EXPECT_EQ(prompt_logits(edit.save(folder_.path("split.gguf"), 3)), prompt_logits(original()));
}

INSTANTIATE_TEST_SUITE_P(Models, RewrittenFile,
                         testing::Values("qwen35moe-nano-f32", "qwen35moe-tiny-q4_k_m", "qwen3moe-nano-f32"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace luce::model_test
