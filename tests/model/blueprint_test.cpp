// What a file must hold, and what is said when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/registry.hpp"
#include "model/blueprint.hpp"
#include "model/loaded_model.hpp"
#include "support/gguf_edit.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::model_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::string kMoe = support::golden_path("models/qwen35moe-nano-f32.gguf");

/// The error of checking the file, empty if there is none.
std::string complaint(const std::string& path) {
  const auto device = device::make_device({.name = "cpu", .threads = 1});
  try {
    const gguf::File file = gguf::File::open(path);
    const model::Blueprint blueprint(file, *device);
    return "";
  } catch (const Error& error) {
    EXPECT_THAT(error.kind(), AnyOf(ErrorKind::invalid_file, ErrorKind::unsupported));
    return error.what();
  }
}

struct Change {
  const char* key;
  uint32_t value;
  const char* named;  // the key, or the tensor whose shape disagrees
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.key << " = " << change.value; }

class Hyperparameter : public testing::TestWithParam<Change> {};

TEST_P(Hyperparameter, OutOfRangeIsNamed) {
  support::TemporaryFolder folder;
  support::GgufEdit edit(kMoe);
  edit.metadata.set_u32(std::string("qwen35moe.") + GetParam().key, GetParam().value);
  EXPECT_THAT(complaint(edit.save(folder.path("changed.gguf"))), HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    Values, Hyperparameter,
    testing::Values(
        Change{"block_count", 0, "block_count"}, Change{"block_count", 513, "block_count"},
        Change{"block_count", 5, "blk.4."}, Change{"block_count", 4294967295, "block_count"},
        Change{"embedding_length", 0, "embedding_length"}, Change{"embedding_length", 63, "token_embd.weight"},
        Change{"attention.head_count", 0, "attention.head_count"},
        Change{"attention.head_count", 3, "attention.head_count"},
        Change{"attention.head_count_kv", 0, "attention.head_count_kv"},
        Change{"attention.head_count_kv", 3, "attention.head_count_kv"}, Change{"expert_count", 0, "expert_count"},
        Change{"expert_count", 17, "blk.0.ffn_gate_inp.weight"}, Change{"expert_count", 100000, "expert_count"},
        Change{"expert_used_count", 0, "expert_used_count"}, Change{"expert_used_count", 17, "expert_used_count"},
        Change{"context_length", 0, "context_length"}, Change{"rope.dimension_count", 7, "rope.dimension_count"},
        Change{"rope.dimension_count", 1000, "rope.dimension_count"}, Change{"ssm.conv_kernel", 1, "ssm.conv_kernel"},
        Change{"ssm.time_step_rank", 3, "ssm.time_step_rank"}, Change{"ssm.group_count", 0, "ssm.group_count"},
        Change{"full_attention_interval", 0, "full_attention_interval"},
        Change{"nextn_predict_layers", 4, "nextn_predict_layers"}));

TEST(Blueprint, NamesAMissingTensor) {
  support::TemporaryFolder folder;
  for (const char* name : {"blk.2.ffn_up_exps.weight", "blk.1.attn_gate.weight", "blk.0.ffn_gate_inp.weight",
                           "output_norm.weight", "blk.3.attn_q_norm.weight", "blk.0.ssm_a"}) {
    support::GgufEdit edit(kMoe);
    edit.remove_tensor(name);
    const std::string message = complaint(edit.save(folder.path("missing.gguf")));
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_THAT(message, Not(HasSubstr("truncated")));
  }
}

TEST(Blueprint, NotesTiedWeightsAndExtraTensors) {
  support::TemporaryFolder folder;
  support::GgufEdit edit(kMoe);
  edit.remove_tensor("output.weight");
  edit.add_random_f32("v.patch_embd.weight", {4, 4}, 1);
  edit.add_random_f32("blk.4.nextn.eh_proj.weight", {4, 4}, 2);
  const gguf::File file = gguf::File::open(edit.save(folder.path("odd.gguf")));
  const auto device = device::make_device({.name = "cpu", .threads = 1});
  const model::Blueprint blueprint(file, *device);
  EXPECT_THAT(blueprint.notes(), testing::UnorderedElementsAre(AllOf(HasSubstr("2 tensors"), HasSubstr("not used")),
                                                               HasSubstr("tied weights")));
}

TEST(Blueprint, RefusesAnUnknownArchitectureWithTheKnownOnes) {
  support::TemporaryFolder folder;
  support::GgufEdit edit(kMoe);
  edit.metadata.set_string("general.architecture", "qwen99moe");
  EXPECT_THAT(complaint(edit.save(folder.path("unknown.gguf"))), AllOf(HasSubstr("qwen99moe"), HasSubstr("qwen35moe")));
}

TEST(Blueprint, RefusesPositionScalingItDoesNotCompute) {
  support::TemporaryFolder folder;
  support::GgufEdit edit(kMoe);
  edit.metadata.set_string("qwen35moe.rope.scaling.type", "yarn");
  EXPECT_THAT(complaint(edit.save(folder.path("yarn.gguf"))), AllOf(HasSubstr("rope.scaling.type"), HasSubstr("yarn")));
}

TEST(Blueprint, PlansWhatTheModelThenAllocates) {
  for (const char* name : {"models/qwen35moe-tiny-q4_k_m.gguf", "models/llama-nano-f32.gguf"}) {
    SCOPED_TRACE(name);
    const model::StepLimits limits{.context_tokens = 320, .sequences = 2, .rows = 64, .logit_rows = 16};
    LoadedModel loaded(support::golden_path(name), {.limits = limits});
    const plan::ModelShape& shape = loaded.blueprint().shape();
    int64_t kv_bytes = 0;
    int64_t state_bytes = 0;
    int64_t dense_bytes = shape.embedding_bytes + shape.output_bytes;
    for (const plan::LayerShape& layer : shape.layers) {
      kv_bytes += (layer.k_width + layer.v_width) * 2 * limits.context_tokens * limits.sequences;
      state_bytes += layer.recurrent_bytes * limits.sequences;
      dense_bytes += layer.dense_bytes;
    }
    const device::Device& device = loaded.device();
    EXPECT_EQ(device.allocated_bytes(device::Purpose::kv_cache), static_cast<size_t>(kv_bytes));
    if (state_bytes > 0) {
      EXPECT_EQ(device.allocated_bytes(device::Purpose::recurrent_state), static_cast<size_t>(state_bytes));
    }
    EXPECT_EQ(device.allocated_bytes(device::Purpose::weights), static_cast<size_t>(dense_bytes));
    const int64_t planned = limits.rows * shape.scratch_row_bytes + limits.logit_rows * shape.scratch_output_bytes;
    const int64_t host_logits = limits.logit_rows * shape.vocabulary * 4;
    const int64_t taken = static_cast<int64_t>(device.allocated_bytes(device::Purpose::scratch)) + host_logits;
    EXPECT_LE(taken, planned);
    EXPECT_GE(taken, planned * 3 / 4);
  }
}

TEST(Model, ASavedStateContinuesAsTheSequenceWould) {
  LoadedModel loaded(kMoe, {});
  const std::vector<int32_t> tokens = random_tokens(100, loaded.model().vocabulary_size(), 3);
  loaded.logits(0, std::span(tokens).first(64), 0, 64);
  ASSERT_TRUE(loaded.model().has_recurrent_state());
  std::vector<std::byte> state(loaded.model().state_bytes());
  loaded.model().save_state(0, state);
  const std::vector<float> expected = loaded.logits(0, std::span(tokens).subspan(64), 64, 36);
  loaded.model().load_state(0, state);
  EXPECT_EQ(loaded.logits(0, std::span(tokens).subspan(64), 64, 36), expected);
}

}  // namespace
}  // namespace luce::model_test
