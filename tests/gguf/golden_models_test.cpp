#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gguf/file.hpp"
#include "support/golden_path.hpp"

namespace luce::gguf {
namespace {

using support::golden_path;
using testing::ElementsAre;

std::vector<std::string> golden_files() {
  std::vector<std::string> paths;
  for (const char* folder : {"models", "tokenizers"}) {
    for (const auto& entry : std::filesystem::directory_iterator(golden_path(folder))) {
      if (entry.path().extension() == ".gguf") paths.push_back(entry.path().string());
    }
  }
  paths.push_back(support::source_path("models/demo-q4_k_m.gguf"));
  return paths;
}

TEST(GoldenModels, EveryFileOpensAndEveryTensorIsRead) {
  const std::vector<std::string> paths = golden_files();
  ASSERT_GE(paths.size(), 27U);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const File file = File::open(path);
    EXPECT_FALSE(file.metadata().get_string("general.architecture").empty());
    for (const TensorInfo& tensor : file.tensors()) {
      std::vector<std::byte> bytes(tensor.bytes);
      file.read(tensor, 0, bytes);
      EXPECT_EQ(static_cast<int64_t>(tensor.bytes), tensor::packed_bytes(tensor.format, tensor.shape.elements()));
      EXPECT_TRUE(std::ranges::equal(bytes, file.map(tensor).bytes())) << tensor.name;
    }
  }
}

TEST(GoldenModels, MetadataOfTheMoeNanoModel) {
  const File file = File::open(golden_path("models/qwen35moe-nano-f32.gguf"));
  const Metadata& metadata = file.metadata();
  EXPECT_EQ(file.version(), 3U);
  EXPECT_EQ(metadata.size(), 34U);
  EXPECT_EQ(metadata.key(0), "general.architecture");
  EXPECT_EQ(metadata.get_u32("qwen35moe.expert_count"), 16U);
  EXPECT_FLOAT_EQ(metadata.get_f32("qwen35moe.rope.freq_base"), 1e7F);
  EXPECT_THAT(metadata.get_i32s("qwen35moe.rope.dimension_sections"), ElementsAre(2, 1, 1, 0));
  EXPECT_EQ(metadata.get_bool("tokenizer.ggml.add_bos_token"), false);
  const auto tokens = metadata.get_strings("tokenizer.ggml.tokens");
  ASSERT_EQ(tokens.size(), 2048U);
  EXPECT_EQ(tokens.front(), "!");
  EXPECT_EQ(tokens.back(), "</think>");
}

TEST(GoldenModels, TensorsOfTheMoeNanoModel) {
  const File file = File::open(golden_path("models/qwen35moe-nano-f32.gguf"));
  EXPECT_EQ(file.tensors().size(), 76U);
  const TensorInfo& down = file.get("blk.3.ffn_down_exps.weight");
  EXPECT_EQ(down.shape, tensor::Shape({16, 64, 32}));
  EXPECT_EQ(down.format, tensor::Format::f32);
  EXPECT_EQ(down.bytes, 131072U);
  EXPECT_EQ(file.find("blk.4.ffn_down_exps.weight"), nullptr);
  EXPECT_EQ(file.size_bytes(), 3150944U);
}

}  // namespace
}  // namespace luce::gguf
