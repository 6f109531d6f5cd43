#include "gguf/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gguf/file.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::gguf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

MetadataBuilder metadata_of_every_type() {
  MetadataBuilder builder;
  builder.set_string("general.architecture", "test");
  builder.set_u8("u8", 255);
  builder.set_u16("u16", 65535);
  builder.set_u32("u32", 4294967295U);
  builder.set_i32("i32", -2147483647 - 1);
  builder.set_u64("u64", 18446744073709551615ULL);
  builder.set_i64("i64", -9);
  builder.set_f32("f32", 0.1F);
  builder.set_f64("f64", 1e300);
  builder.set_bool("bool", true);
  builder.set_string("empty", "");
  builder.set_strings("strings", std::vector<std::string>{"a", "", "h\xc3\xa9"});
  builder.set_i32s("i32s", std::vector<int32_t>{-1, 2});
  builder.set_u32s("u32s", std::vector<uint32_t>{1, 4294967295U});
  builder.set_f32s("f32s", std::vector<float>{0.5F, -2.0F});
  return builder;
}

std::vector<std::byte> counting_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return bytes;
}

std::vector<std::byte> read_all(const File& file, const TensorInfo& tensor) {
  std::vector<std::byte> bytes(tensor.bytes);
  file.read(tensor, 0, bytes);
  return bytes;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Writer, EveryTypeOfMetadataComesBack) {
  const support::TemporaryFolder folder;
  for (const uint32_t version : {2U, 3U}) {
    Writer writer(folder.path("m.gguf"), metadata_of_every_type(), {}, {.version = version});
    writer.finish();
    const File file = File::open(folder.path("m.gguf"));
    const Metadata& metadata = file.metadata();
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(metadata.size(), 15U);
    EXPECT_EQ(metadata.get_u32("u8"), 255U);
    EXPECT_EQ(metadata.get_i64("u16"), 65535);
    EXPECT_EQ(metadata.get_u32("u32"), 4294967295U);
    EXPECT_EQ(metadata.get_i64("i32"), -2147483648LL);
    EXPECT_EQ(metadata.get_u64("u64"), 18446744073709551615ULL);
    EXPECT_EQ(metadata.get_i64("i64"), -9);
    EXPECT_EQ(metadata.get_f32("f32"), 0.1F);
    EXPECT_EQ(metadata.find("f64")->as_f64(), 1e300);
    EXPECT_TRUE(metadata.get_bool("bool"));
    EXPECT_EQ(metadata.get_string("empty"), "");
    EXPECT_THAT(metadata.get_strings("strings"), ElementsAre("a", "", "h\xc3\xa9"));
    EXPECT_THAT(metadata.get_i32s("i32s"), ElementsAre(-1, 2));
    EXPECT_THAT(metadata.get_u32s("u32s"), ElementsAre(1U, 4294967295U));
    EXPECT_THAT(metadata.get_f32s("f32s"), ElementsAre(0.5F, -2.0F));
  }
}

TEST(Writer, ACopyOfAModelIsTheSameFile) {
  const support::TemporaryFolder folder;
  const std::string original = support::golden_path("models/qwen35moe-nano-f32.gguf");
  const File file = File::open(original);
  std::vector<TensorSpec> specs;
  for (const TensorInfo& tensor : file.tensors()) specs.push_back({tensor.name, tensor.format, tensor.shape});
  Writer writer(folder.path("copy.gguf"), MetadataBuilder(file.metadata()), specs);
  for (const TensorInfo& tensor : file.tensors()) writer.append(read_all(file, tensor));
  writer.finish();
  EXPECT_TRUE(content_of(folder.path("copy.gguf")) == content_of(original));
}

TEST(Writer, DataInOddPiecesLandsInItsTensors) {
  const support::TemporaryFolder folder;
  MetadataBuilder metadata;
  metadata.set_u32("general.alignment", 128);
  const std::vector<TensorSpec> specs = {{"a", tensor::Format::f32, {3, 5}},
                                         {"b", tensor::Format::q8_0, {2, 64}},
                                         {"c", tensor::Format::f16, {1}},
                                         {"d", tensor::Format::i8, {2, 2, 2, 2}}};
  const size_t total = std::accumulate(specs.begin(), specs.end(), size_t{0},
                                       [](size_t sum, const auto& s) { return sum + tensor_bytes(s); });
  const std::vector<std::byte> data = counting_bytes(total);
  Writer writer(folder.path("m.gguf"), metadata, specs);
  for (size_t begin = 0; begin < total; begin += 37) {
    writer.append(std::span(data).subspan(begin, std::min<size_t>(37, total - begin)));
  }
  writer.finish();
  const File file = File::open(folder.path("m.gguf"));
  EXPECT_EQ(file.alignment_bytes(), 128U);
  auto expected = data.begin();
  for (size_t i = 0; i < specs.size(); ++i) {
    const TensorInfo& tensor = file.tensors()[i];
    EXPECT_EQ(tensor.name, specs[i].name);
    EXPECT_EQ(tensor.shape, specs[i].shape);
    EXPECT_EQ(tensor.offset_bytes % 128, 0U);
    const std::vector<std::byte> bytes = read_all(file, tensor);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected)) << tensor.name;
    expected += static_cast<std::ptrdiff_t>(bytes.size());
  }
}

TEST(Writer, SplitFilesOpenByAnyPart) {
  const support::TemporaryFolder folder;
  std::vector<TensorSpec> specs;
  for (int i = 0; i < 7; ++i) specs.push_back({"t" + std::to_string(i), tensor::Format::f32, {i + 1, 8}});
  const std::vector<std::byte> data = counting_bytes(28 * 32);
  for (const uint32_t parts : {2U, 3U, 7U}) {
    Writer writer(folder.path("m.gguf"), metadata_of_every_type(), specs, {.part_count = parts});
    writer.append(data);
    writer.finish();
    ASSERT_EQ(writer.paths().size(), parts);
    for (const std::string& path : writer.paths()) {
      const File file = File::open(path);
      EXPECT_EQ(file.part_count(), parts);
      EXPECT_EQ(file.metadata().get_string("general.architecture"), "test");
      ASSERT_EQ(file.tensors().size(), 7U);
      size_t begin = 0;
      for (const TensorInfo& tensor : file.tensors()) {
        EXPECT_TRUE(std::ranges::equal(read_all(file, tensor), std::span(data).subspan(begin, tensor.bytes)));
        begin += tensor.bytes;
      }
    }
  }
}

TEST(Writer, NothingIsLeftOfAnUnfinishedFile) {
  const support::TemporaryFolder folder;
  {
    Writer writer(folder.path("m.gguf"), {}, {{"t", tensor::Format::f32, {4}}});
    writer.append(counting_bytes(12));
    EXPECT_THAT([&] { writer.finish(); }, ThrowsMessage<Error>(HasSubstr("4 bytes of tensor 't' are missing")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Writer, RefusesWhatTheFormatCannotHold) {
  const support::TemporaryFolder folder;
  EXPECT_THAT(
      [&] {
        Writer(folder.path("m.gguf"), {}, {{"t", tensor::Format::q4_k, {2, 100}}});
      },
      ThrowsMessage<Error>(HasSubstr("must be a multiple of 256")));
  EXPECT_THAT(
      [&] {
        Writer(folder.path("m.gguf"), {}, {{"t", tensor::Format::f32, {2}}}, {.part_count = 2});
      },
      ThrowsMessage<Error>(HasSubstr("cannot be split into 2 parts")));
  EXPECT_THAT([&] { Writer(folder.path("no/m.gguf"), {}, {}); }, ThrowsMessage<Error>(HasSubstr("no/m.gguf.part")));
}

}  // namespace
}  // namespace luce::gguf
