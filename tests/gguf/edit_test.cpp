#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gguf/file.hpp"
#include "support/gguf_edit.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::gguf {
namespace {

using support::GgufEdit;
using support::golden_path;

std::vector<std::byte> expert_rows(const File& file, const std::string& name, size_t expert) {
  const TensorInfo& tensor = file.get(name);
  std::vector<std::byte> bytes(tensor.bytes / static_cast<size_t>(tensor.shape[0]));
  file.read(tensor, expert * bytes.size(), bytes);
  return bytes;
}

TEST(GgufEdit, FusedExpertsHoldGateRowsThenUpRows) {
  const support::TemporaryFolder folder;
  for (const char* model : {"models/qwen35moe-nano-f32.gguf", "models/qwen35moe-tiny-q4_k_m.gguf"}) {
    const File original = File::open(golden_path(model));
    GgufEdit edit(golden_path(model));
    edit.fuse_gate_up();
    const File fused = File::open(edit.save(folder.path("fused.gguf")));
    EXPECT_EQ(fused.find("blk.1.ffn_gate_exps.weight"), nullptr);
    EXPECT_EQ(fused.find("blk.1.ffn_up_exps.weight"), nullptr);
    const tensor::Shape& gate_shape = original.get("blk.1.ffn_gate_exps.weight").shape;
    EXPECT_EQ(fused.get("blk.1.ffn_gate_up_exps.weight").shape,
              tensor::Shape({gate_shape[0], 2 * gate_shape[1], gate_shape[2]}));
    for (size_t expert = 0; expert < static_cast<size_t>(gate_shape[0]); ++expert) {
      std::vector<std::byte> expected = expert_rows(original, "blk.1.ffn_gate_exps.weight", expert);
      const std::vector<std::byte> up = expert_rows(original, "blk.1.ffn_up_exps.weight", expert);
      expected.insert(expected.end(), up.begin(), up.end());
      EXPECT_EQ(expert_rows(fused, "blk.1.ffn_gate_up_exps.weight", expert), expected);
    }
  }
}

TEST(GgufEdit, AnMtpBlockComesAfterTheOthers) {
  const support::TemporaryFolder folder;
  GgufEdit edit(golden_path("models/qwen35moe-nano-f32.gguf"));
  edit.add_mtp_block(5);
  const File file = File::open(edit.save(folder.path("mtp.gguf")));
  EXPECT_EQ(file.metadata().get_u32("qwen35moe.block_count"), 5U);
  EXPECT_EQ(file.metadata().get_u32("qwen35moe.nextn_predict_layers"), 1U);
  EXPECT_EQ(file.get("blk.4.nextn.eh_proj.weight").shape, tensor::Shape({64, 128}));
  EXPECT_EQ(file.get("blk.4.attn_q.weight").shape, file.get("blk.3.attn_q.weight").shape);
  EXPECT_NE(file.find("blk.4.ffn_down_exps.weight"), nullptr);
  EXPECT_EQ(file.tensors().size(), 76U + 16U + 4U);
}

TEST(GgufEdit, TensorsAreRemovedRenamedAndConverted) {
  const support::TemporaryFolder folder;
  GgufEdit edit(golden_path("models/qwen3-nano-f32.gguf"));
  edit.remove_tensor("output.weight");
  edit.rename_tensor("output_norm.weight", "final_norm.weight");
  edit.convert_tensor("token_embd.weight", tensor::Format::q8_0);
  edit.metadata.remove("general.name");
  const File file = File::open(edit.save(folder.path("edited.gguf"), 2));
  EXPECT_EQ(file.part_count(), 2U);
  EXPECT_EQ(file.find("output.weight"), nullptr);
  EXPECT_NE(file.find("final_norm.weight"), nullptr);
  EXPECT_EQ(file.get("token_embd.weight").format, tensor::Format::q8_0);
  EXPECT_FALSE(file.metadata().contains("general.name"));
}

}  // namespace
}  // namespace luce::gguf
