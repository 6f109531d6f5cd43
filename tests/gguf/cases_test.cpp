// The cases of cases/gguf.jsonl that concern the reader alone; the input comes from that file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gguf/allocation_counter.hpp"
#include "gguf/file.hpp"
#include "support/gguf_edit.hpp"
#include "support/gguf_exercise.hpp"
#include "support/golden_path.hpp"
#include "support/temporary_folder.hpp"

namespace luce::gguf {
namespace {

using nlohmann::json;
using support::exercise_gguf;
using support::GgufEdit;
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

const json& given(const std::string& id) { return all_cases().at(id).at("given"); }

/// "ref/models/x.gguf" is tests/golden/models/x.gguf here.
std::string referred(const json& path) { return support::golden_path(path.get<std::string>().substr(4)); }

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The file that a case gives as text, or as hex with zeros behind it.
std::string file_content(const json& file) {
  if (file.contains("text")) return file.at("text").get<std::string>();
  const auto hex = file.at("hex").get<std::string>();
  std::string content;
  for (size_t i = 0; i < hex.size(); i += 2) content += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return content + std::string(file.value("then_zero_bytes", size_t{0}), '\0');
}

std::string u64_bytes(uint64_t value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }
std::string u32_bytes(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

/// What the reader says to a file, within a second and 64 MiB.
std::string verdict(const std::string& content) {
  const support::TemporaryFolder folder;
  const std::string path = folder.write("case.gguf", content);
  const AllocationCounter allocations;
  const auto begin = std::chrono::steady_clock::now();
  std::string message = exercise_gguf(path);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_LT(allocations.peak_bytes(), size_t{64} << 20);
  if (!message.empty()) {
    EXPECT_THAT(message, HasSubstr(path));
  }
  return message;
}

TEST(GgufCases, EveryCaseIsHereOrWithTheModelAndServer) {
  const std::set<std::string> here = {"truncated-at-several-places",
                                      "zero-dimension-and-empty-names",
                                      "size-arithmetic-overflow",
                                      "bad-alignment",
                                      "shards",
                                      "unknown-architecture",
                                      "unknown-tensor-type",
                                      "big-endian-file",
                                      "not-a-gguf-file",
                                      "metadata-lengths-and-types",
                                      "metadata-checks-stay-fast",
                                      "metadata-nested-arrays-and-bytes",
                                      "header-length-every-prefix"};
  const std::set<std::string> elsewhere = {"hyperparameters-out-of-range", "vocabulary-byte-tokens",
                                           "option-without-effect-is-reported", "extra-and-missing-tensors",
                                           "right-diagnosis-for-experts"};
  for (const auto& [id, ignored] : all_cases()) EXPECT_TRUE(here.contains(id) || elsewhere.contains(id)) << id;
  EXPECT_EQ(all_cases().size(), here.size() + elsewhere.size());
}

TEST(GgufCases, TruncatedAtSeveralPlaces) {
  const json& input = given("truncated-at-several-places");
  const std::string whole = content_of(referred(input.at("base_file")));
  const std::map<int, testing::Matcher<std::string>> expected = {
      {4, HasSubstr("ends inside its header")},
      {23, HasSubstr("ends inside its header")},
      {1024, HasSubstr("ends inside its header")},
      {50000, HasSubstr("ends inside its header")},
      {70875, AllOf(HasSubstr("tensor 'token_embd.weight'"), HasSubstr("70875 bytes"))},
      {1325252, AllOf(HasSubstr("'blk.0.ffn_up_exps.weight'"), HasSubstr("1456224"), HasSubstr("1325252"))},
      {3150943, AllOf(HasSubstr("'blk.3.ffn_down_shexp.weight'"), HasSubstr("3150944"), HasSubstr("3150943"))}};
  ASSERT_EQ(input.at("cut_to_bytes").size(), expected.size());
  for (const int bytes : input.at("cut_to_bytes")) {
    EXPECT_THAT(verdict(whole.substr(0, static_cast<size_t>(bytes))), expected.at(bytes)) << bytes;
  }
}

TEST(GgufCases, ZeroDimensionAndEmptyNames) {
  const json& files = given("zero-dimension-and-empty-names").at("files");
  ASSERT_EQ(files.size(), 5U);
  EXPECT_THAT(verdict(file_content(files[0])), AllOf(HasSubstr("'t'"), HasSubstr("dimension 1 of 0")));
  EXPECT_THAT(verdict(file_content(files[1])), HasSubstr("metadata key at byte"));
  EXPECT_THAT(verdict(file_content(files[2])), HasSubstr("tensor name at byte"));
  EXPECT_THAT(verdict(file_content(files[3])), AllOf(HasSubstr("'t'"), HasSubstr("5 dimensions")));
  EXPECT_THAT(verdict(file_content(files[4])), AllOf(HasSubstr("'t'"), HasSubstr("4294967295 dimensions")));
}

TEST(GgufCases, SizeArithmeticOverflow) {
  const json& files = given("size-arithmetic-overflow").at("files");
  ASSERT_EQ(files.size(), 6U);
  for (const size_t product : {0U, 1U, 2U}) {
    EXPECT_THAT(verdict(file_content(files[product])), AllOf(HasSubstr("'w'"), HasSubstr("product is too large")));
  }
  EXPECT_THAT(verdict(file_content(files[3])), AllOf(HasSubstr("'w'"), HasSubstr("18446744073709551584")));
  EXPECT_THAT(verdict(file_content(files[4])), HasSubstr("announces 9223372036854775808 entries"));
  EXPECT_THAT(verdict(file_content(files[5])), HasSubstr("announces 18446744073709551615 entries"));
}

TEST(GgufCases, BadAlignment) {
  const json& input = given("bad-alignment");
  const support::TemporaryFolder folder;
  for (const json& value : input.at("values")) {
    SCOPED_TRACE(value.dump());
    GgufEdit edit(referred(input.at("base_file")));
    if (value.contains("u32")) edit.metadata.set_u32("general.alignment", value.at("u32").get<uint32_t>());
    if (value.contains("i32")) edit.metadata.set_i32("general.alignment", value.at("i32").get<int32_t>());
    if (value.contains("str")) edit.metadata.set_string("general.alignment", value.at("str").get<std::string>());
    const std::string message = exercise_gguf(edit.save(folder.path("m.gguf")));
    if (value == json({{"u32", 2147483648}})) {
      EXPECT_THAT(message, HasSubstr("ends inside its tensor data"));
    } else {
      EXPECT_THAT(message, HasSubstr("general.alignment should be a u32 and a power of two"));
    }
  }
}

TEST(GgufCases, UnknownArchitectureIsForTheModelToSay) {
  const json& files = given("unknown-architecture").at("files");
  const support::TemporaryFolder folder;
  const File unknown = File::open(folder.write("a.gguf", file_content(files[0])));
  EXPECT_EQ(unknown.metadata().get_string("general.architecture"), "qwen99moe");
  const File nameless = File::open(folder.write("b.gguf", file_content(files[1])));
  EXPECT_THAT([&] { nameless.metadata().get_string("general.architecture"); },
              testing::ThrowsMessage<Error>(HasSubstr("general.architecture is missing")));
}

TEST(GgufCases, UnknownTensorType) {
  const json& files = given("unknown-tensor-type").at("files");
  const std::vector<std::string> numbers = {"4", "36", "99", "4294967295"};
  ASSERT_EQ(files.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_THAT(verdict(file_content(files[i])),
                HasSubstr("tensor 'w' has type " + numbers[i] + ", which is unsupported"));
  }
}

TEST(GgufCases, BigEndianFile) {
  EXPECT_THAT(verdict(file_content(given("big-endian-file").at("files")[0])), HasSubstr("endian"));
}

TEST(GgufCases, NotAGgufFile) {
  const json& files = given("not-a-gguf-file").at("files");
  const std::vector<std::string> beginnings = {"<!DOCTYPE html>", "0 bytes",           "\\x00\\x00",
                                               "'GGU'",           "version 1\\x0aoid", "'tjgg"};
  ASSERT_EQ(files.size(), beginnings.size());
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_THAT(verdict(file_content(files[i])), AllOf(HasSubstr("not a GGUF file"), HasSubstr(beginnings[i])));
  }
}

TEST(GgufCases, MetadataLengthsAndTypes) {
  const json& files = given("metadata-lengths-and-types").at("files");
  ASSERT_EQ(files.size(), 6U);
  EXPECT_THAT(verdict(file_content(files[0])), HasSubstr("'general.architecture' appears twice"));
  EXPECT_THAT(verdict(file_content(files[1])), HasSubstr("9223372036854775808"));
  EXPECT_THAT(verdict(file_content(files[2])), AllOf(HasSubstr("'k'"), HasSubstr("18446744073709551615")));
  EXPECT_THAT(verdict(file_content(files[3])), AllOf(HasSubstr("'k'"), HasSubstr("1152921504606846976 entries")));
  EXPECT_THAT(verdict(file_content(files[4])), HasSubstr("type 4294967295"));
  EXPECT_THAT(verdict(file_content(files[5])), HasSubstr("type 13"));
}

TEST(GgufCases, MetadataNestedArraysAndBytes) {
  const json& files = given("metadata-nested-arrays-and-bytes").at("files");
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(verdict(file_content(files[0])), "");
  EXPECT_THAT(verdict(file_content(files[1])), HasSubstr("ends inside its header"));
  EXPECT_THAT(verdict(file_content(files[2])), HasSubstr("2305843009213693953 entries"));
  EXPECT_EQ(verdict(file_content(files[3])), "");
  std::string deep = "GGUF" + u32_bytes(3) + u64_bytes(0) + u64_bytes(1) + u64_bytes(1) + "k" + u32_bytes(9);
  for (int level = 0; level < 100000; ++level) deep += u32_bytes(9) + u64_bytes(1);
  EXPECT_THAT(verdict(deep + u32_bytes(0) + u64_bytes(1) + '\x01'), HasSubstr("nests arrays"));
}

double seconds_to_open(const std::string& path) {
  std::vector<double> seconds;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const File file = File::open(path);
    if (file.metadata().contains("tokenizer.ggml.tokens")) file.metadata().get_strings("tokenizer.ggml.tokens");
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(seconds);
  return seconds[1];
}

TEST(GgufCases, MetadataChecksStayFast) {
  const auto described = given("metadata-checks-stay-fast").at("files")[0].get<std::string>();
  const std::string vocabulary = referred(described.substr(0, described.find(' ')));
  const support::TemporaryFolder folder;
  std::string many = "GGUF" + u32_bytes(3) + u64_bytes(0) + u64_bytes(20000);
  for (int i = 0; i < 20000; ++i) {
    std::string key = "a.key.that.is.forty.bytes.long." + std::to_string(100000000 + i);
    many += u64_bytes(key.size()) + key + u32_bytes(4) + u32_bytes(7);
  }
  const std::string many_keys = folder.write("many.gguf", many);
  EXPECT_LT(seconds_to_open(vocabulary), 1.0);
  EXPECT_LT(seconds_to_open(many_keys), 0.3);
  for (const std::string& path : {vocabulary, many_keys}) {
    const AllocationCounter allocations;
    const File file = File::open(path);
    EXPECT_LT(allocations.peak_bytes(), 12 * std::filesystem::file_size(path));
  }
}

TEST(GgufCases, HeaderLengthEveryPrefix) {
  const std::string whole = file_content(given("header-length-every-prefix").at("base"));
  for (size_t length = 0; length < whole.size(); ++length) {
    const char* expected = length < 4 ? "not a GGUF file" : "ends inside";
    ASSERT_THAT(verdict(whole.substr(0, length)), HasSubstr(expected)) << length;
  }
  const support::TemporaryFolder folder;
  const File file = File::open(folder.write("whole.gguf", whole));
  EXPECT_EQ(file.metadata().size(), 3U);
  ASSERT_EQ(file.tensors().size(), 1U);
  EXPECT_EQ(file.tensors()[0].shape, tensor::Shape({2, 4}));
  EXPECT_EQ(file.tensors()[0].bytes, 32U);
}

class Shards : public testing::Test {
 protected:
  Shards() : original_(support::golden_path("models/qwen3moe-nano-f32.gguf")) {
    GgufEdit(original_).save(folder_.path("m.gguf"), 3);
  }

  std::string shard(int number) const { return folder_.path("m-0000" + std::to_string(number) + "-of-00003.gguf"); }

  void expect_same_as_unsplit(const std::string& path) const {
    const File split = File::open(path);
    const File whole = File::open(original_);
    ASSERT_EQ(split.tensors().size(), whole.tensors().size());
    for (const TensorInfo& tensor : whole.tensors()) {
      std::vector<std::byte> expected(tensor.bytes);
      std::vector<std::byte> got(tensor.bytes);
      whole.read(tensor, 0, expected);
      split.read(split.get(tensor.name), 0, got);
      EXPECT_TRUE(got == expected) << tensor.name;
    }
  }

  support::TemporaryFolder folder_;
  std::string original_;
};

TEST_F(Shards, AnyOfThemOpensTheModel) {
  for (const int number : {1, 2, 3}) expect_same_as_unsplit(shard(number));
  EXPECT_EQ(File::open(shard(2)).metadata().get_u32("split.tensors.count"), 27U);
}

TEST_F(Shards, AMissingOneIsNamed) {
  std::filesystem::remove(shard(3));
  EXPECT_THAT(exercise_gguf(shard(1)), HasSubstr("m-00003-of-00003.gguf: no such file"));
}

TEST_F(Shards, ACopyOfAnotherIsNoticed) {
  std::filesystem::copy_file(shard(3), shard(2), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(exercise_gguf(shard(1)), HasSubstr("split.no is 2 where 1 was expected"));
}

TEST_F(Shards, OneOfAnotherQuantisationIsLegal) {
  GgufEdit edit(original_);
  for (GgufEdit::Tensor& tensor : edit.tensors) {
    if (tensor.spec.shape.rank() == 3) edit.convert_tensor(tensor.spec.name, tensor::Format::q8_0);
  }
  // The border of shards must stay where it was, so the tensors are cut by hand at the same names.
  const File split = File::open(shard(1));
  GgufEdit part(shard(2));
  part.metadata = MetadataBuilder();
  part.metadata.set_u16("split.no", 1);
  part.metadata.set_u16("split.count", 3);
  std::erase_if(part.tensors, [&](const GgufEdit::Tensor& tensor) { return split.get(tensor.spec.name).part != 1; });
  for (GgufEdit::Tensor& tensor : part.tensors) tensor = edit.tensor(tensor.spec.name);
  part.save(shard(2));
  const File mixed = File::open(shard(1));
  EXPECT_EQ(mixed.tensors().size(), 27U);
  EXPECT_EQ(exercise_gguf(shard(1)), "");
}

TEST_F(Shards, OtherNamesAreRefusedWithThePattern) {
  for (int number = 1; number <= 3; ++number) {
    std::filesystem::rename(shard(number), folder_.path(std::string(1, static_cast<char>('w' + number)) + ".gguf"));
  }
  EXPECT_THAT(exercise_gguf(folder_.path("x.gguf")), HasSubstr("should end in '-00001-of-00003.gguf'"));
}

TEST_F(Shards, JoinedFilesAreRefused) {
  const std::string joined = content_of(shard(1)) + content_of(shard(2)) + content_of(shard(3));
  EXPECT_THAT(exercise_gguf(folder_.write("joined.gguf", joined)), HasSubstr("another GGUF file begins at byte"));
  folder_.write("m-00001-of-00003.gguf", joined);
  EXPECT_THAT(exercise_gguf(shard(1)), HasSubstr("must stay separate files"));
}

}  // namespace
}  // namespace luce::gguf
