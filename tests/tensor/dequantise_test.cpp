#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/golden_path.hpp"
#include "tensor/reference.hpp"

namespace luce::tensor {
namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

nlohmann::json index_of_goldens() {
  std::ifstream in(support::golden_path("dequant/index.json"));
  return nlohmann::json::parse(in);
}

TEST(Dequantise, EveryGoldenBlockIsBitExact) {
  const nlohmann::json index = index_of_goldens();
  ASSERT_EQ(index.size(), 25U);
  for (const auto& entry : index) {
    const auto name = entry.at("type").get<std::string>();
    SCOPED_TRACE(name);
    const auto format = format_from_id(entry.at("ggml_type_id").get<uint32_t>());
    ASSERT_TRUE(format);
    EXPECT_EQ(info(*format).name, name);
    EXPECT_EQ(info(*format).block_elements, entry.at("block_elements").get<int64_t>());
    EXPECT_EQ(info(*format).block_bytes, entry.at("block_bytes").get<int64_t>());
    const std::vector<char> blocks = read_file(support::golden_path("dequant/" + name + ".bin"));
    const std::vector<char> expected = read_file(support::golden_path("dequant/" + name + ".f32"));
    std::vector<float> values(expected.size() / sizeof(float));
    ASSERT_EQ(values.size(), entry.at("elements").get<size_t>());
    dequantise(*format, std::as_bytes(std::span(blocks)), values);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::memcmp(&values[i], expected.data() + i * sizeof(float), sizeof(float)), 0)
          << "element " << i << ": got " << values[i];
    }
  }
}

}  // namespace
}  // namespace luce::tensor
