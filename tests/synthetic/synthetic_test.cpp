#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/file.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"
#include "synthetic/model_spec.hpp"
#include "synthetic/tensor_list.hpp"
#include "synthetic/write_model.hpp"
#include "tensor/reference.hpp"

namespace luce::synthetic {
namespace {

using gguf::File;
using testing::HasSubstr;
using testing::ThrowsMessage;

ModelSpec small(const std::string& arch) {
  ModelSpec spec = preset("nano");
  spec.arch = arch;
  if (arch == "qwen35" || arch == "qwen3") spec.experts = 0;
  return spec;
}

std::set<std::string> names_of(const File& file) {
  std::set<std::string> names;
  for (const gguf::TensorInfo& tensor : file.tensors()) names.insert(tensor.name);
  return names;
}

std::set<std::string> keys_of(const gguf::Metadata& metadata) {
  std::set<std::string> keys;
  for (size_t i = 0; i < metadata.size(); ++i) keys.emplace(metadata.key(i));
  keys.erase("general.quantization_version");
  return keys;
}

std::vector<float> values_of(const File& file, const gguf::TensorInfo& tensor) {
  std::vector<std::byte> bytes(tensor.bytes);
  file.read(tensor, 0, bytes);
  std::vector<float> values(static_cast<size_t>(tensor.shape.elements()));
  tensor::dequantise(tensor.format, bytes, values);
  return values;
}

double spread_of(const std::vector<float>& values) {
  double power = 0.0;
  for (const float value : values) power += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(power / static_cast<double>(values.size()));
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class EachArchitecture : public testing::TestWithParam<std::string> {};

TEST_P(EachArchitecture, HasTheKeysAndTensorsOfTheReferenceModel) {
  const support::TemporaryFolder folder;
  ModelSpec spec = small(GetParam());
  const File golden = File::open(support::golden_path("models/" + spec.arch + "-nano-f32.gguf"));
  spec.layers = golden.metadata().get_u32(spec.arch + ".block_count");
  const File made = File::open(write_model(spec, folder.path("m.gguf")).front());
  EXPECT_EQ(names_of(made), names_of(golden));
  EXPECT_EQ(keys_of(made.metadata()), keys_of(golden.metadata()));
  for (const gguf::TensorInfo& tensor : made.tensors()) {
    EXPECT_EQ(tensor.shape.rank(), golden.get(tensor.name).shape.rank()) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, EachArchitecture,
                         testing::Values("qwen35moe", "qwen3moe", "qwen35", "qwen3", "llama"));

TEST(Synthetic, TheNanoShapeIsThatOfTheReferenceModel) {
  const support::TemporaryFolder folder;
  const File golden = File::open(support::golden_path("models/qwen35moe-nano-f32.gguf"));
  const File made = File::open(write_model(preset("nano"), folder.path("m.gguf")).front());
  for (const gguf::TensorInfo& tensor : golden.tensors()) {
    EXPECT_EQ(made.get(tensor.name).shape, tensor.shape) << tensor.name;
  }
}

TEST(Synthetic, TheSameSeedGivesTheSameBytes) {
  const support::TemporaryFolder folder;
  ModelSpec spec = preset("nano");
  write_model(spec, folder.path("a.gguf"));
  write_model(spec, folder.path("b.gguf"));
  spec.seed = 2;
  write_model(spec, folder.path("c.gguf"));
  EXPECT_TRUE(content_of(folder.path("a.gguf")) == content_of(folder.path("b.gguf")));
  EXPECT_FALSE(content_of(folder.path("a.gguf")) == content_of(folder.path("c.gguf")));
}

TEST(Synthetic, EveryFormatThatComputesGivesSaneWeights) {
  const support::TemporaryFolder folder;
  for (const tensor::FormatInfo& format : tensor::all_formats()) {
    if (!format.computes) continue;
    SCOPED_TRACE(format.name);
    ModelSpec spec = small("qwen3moe");
    spec.layers = 1;
    spec.hidden = spec.expert_ffn = 256;
    spec.gate_up = spec.down = parse_formats(std::string(format.name));
    const File file = File::open(write_model(spec, folder.path("m.gguf")).front());
    const gguf::TensorInfo& down = file.get("blk.0.ffn_down_exps.weight");
    EXPECT_EQ(down.format, format.format);
    const std::vector<float> values = values_of(file, down);
    EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }));
    // Ternary formats round most of a bell curve to zero.
    EXPECT_GT(spread_of(values), 0.5 / 16.0);
    EXPECT_LT(spread_of(values), 1.2 / 16.0);
  }
}

TEST(Synthetic, OptionsShowInTheFile) {
  const support::TemporaryFolder folder;
  ModelSpec spec = preset("nano");
  spec.fused_gate_up = true;
  spec.mtp = true;
  spec.hidden = 256;
  spec.gate_up = parse_formats("Q4_K");
  spec.down = parse_formats("Q4_K,Q6_K");
  const File file = File::open(write_model(spec, folder.path("m.gguf"), {.part_count = 3}).back());
  EXPECT_EQ(file.part_count(), 3U);
  EXPECT_EQ(file.get("blk.2.ffn_gate_up_exps.weight").shape, tensor::Shape({16, 64, 256}));
  EXPECT_EQ(file.get("blk.2.ffn_gate_up_exps.weight").format, tensor::Format::q4_k);
  // Rows of 32 weights cannot be Q6_K.
  EXPECT_EQ(file.get("blk.2.ffn_down_exps.weight").format, tensor::Format::q8_0);
  EXPECT_EQ(file.get("blk.4.nextn.eh_proj.weight").shape, tensor::Shape({256, 512}));
  EXPECT_NE(file.find("blk.4.attn_q.weight"), nullptr);
  EXPECT_EQ(file.metadata().get_u32("qwen35moe.block_count"), 5U);
}

TEST(Synthetic, TheRecipeGivesHalfTheLayersMoreBits) {
  uint32_t more = 0;
  for (uint32_t layer = 0; layer < 40; ++layer) more += gets_more_bits(layer, 40) ? 1 : 0;
  EXPECT_EQ(more, 20U);
  EXPECT_TRUE(gets_more_bits(0, 40));
  EXPECT_TRUE(gets_more_bits(39, 40));
  EXPECT_FALSE(gets_more_bits(5, 40));
}

TEST(Synthetic, PresetsHaveTheSizesOfTheModelsTheyAreNamedAfter) {
  const std::map<std::string, double> expected_gb = {{"35b-a3b", 20.8}, {"30b-a3b", 18.1}, {"4b", 2.9}};
  for (const auto& [name, gb] : expected_gb) {
    uint64_t bytes = 0;
    for (const PlannedTensor& tensor : plan_tensors(preset(name))) bytes += gguf::tensor_bytes(tensor.spec);
    EXPECT_NEAR(static_cast<double>(bytes) * 1e-9, gb, 0.1 * gb) << name;
    check(preset(name));
  }
}

TEST(Synthetic, EveryMergeJoinsTwoTokensIntoOne) {
  const support::TemporaryFolder folder;
  ModelSpec spec = preset("nano");
  spec.vocab = 4000;
  const File file = File::open(write_model(spec, folder.path("m.gguf")).front());
  const auto tokens = file.metadata().get_strings("tokenizer.ggml.tokens");
  const std::set<std::string_view> known(tokens.begin(), tokens.end());
  EXPECT_EQ(tokens.size(), 4000U);
  EXPECT_EQ(known.size(), 4000U);
  const auto merges = file.metadata().get_strings("tokenizer.ggml.merges");
  EXPECT_EQ(merges.size(), 4000U - 256U - 9U);
  for (const std::string_view merge : merges) {
    const size_t space = merge.find(' ');
    const std::string joined = std::string(merge.substr(0, space)) + std::string(merge.substr(space + 1));
    EXPECT_TRUE(known.contains(merge.substr(0, space)) && known.contains(merge.substr(space + 1)));
    EXPECT_TRUE(known.contains(joined)) << merge;
  }
  EXPECT_EQ(tokens[file.metadata().get_u32("tokenizer.ggml.eos_token_id")], "<|im_end|>");
}

TEST(Synthetic, ATokenizerIsCopiedAndFilledUp) {
  const support::TemporaryFolder folder;
  ModelSpec spec = preset("nano");
  spec.vocab = 2100;
  const std::string source = support::golden_path("models/qwen35moe-nano-f32.gguf");
  const File file = File::open(write_model(spec, folder.path("m.gguf"), {.tokenizer_path = source}).front());
  const auto tokens = file.metadata().get_strings("tokenizer.ggml.tokens");
  ASSERT_EQ(tokens.size(), 2100U);
  EXPECT_EQ(tokens[2047], "</think>");
  EXPECT_EQ(file.metadata().get_i32s("tokenizer.ggml.token_type").at(2099), 5);
  spec.vocab = 2000;
  EXPECT_THAT([&] { write_model(spec, folder.path("n.gguf"), {.tokenizer_path = source}); },
              ThrowsMessage<Error>(HasSubstr("2048 tokens")));
}

TEST(Synthetic, ImpossibleShapesAreRefusedByFlag) {
  const auto refuse = [](auto change, const char* flag) {
    ModelSpec spec = preset("nano");
    change(spec);
    EXPECT_THAT([&] { check(spec); }, ThrowsMessage<Error>(HasSubstr(flag)));
  };
  refuse([](ModelSpec& spec) { spec.heads = 3; }, "--heads");
  refuse([](ModelSpec& spec) { spec.top_k = 17; }, "--top-k");
  refuse([](ModelSpec& spec) { spec.arch = "gpt2"; }, "--arch");
  refuse([](ModelSpec& spec) { spec.arch = "qwen3"; }, "--experts");
  refuse([](ModelSpec& spec) { spec.ssm_inner = 65; }, "--ssm-inner");
  refuse([](ModelSpec& spec) { spec.rope_dims = 33; }, "--rope-dims");
  refuse([](ModelSpec& spec) { spec.vocab = 10; }, "--vocab");
  EXPECT_THAT([] { parse_formats("Q4_K,Q9"); }, ThrowsMessage<Error>(HasSubstr("Q9")));
}

}  // namespace
}  // namespace luce::synthetic
