#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "gguf/byte_buffer.hpp"
#include "gguf/file.hpp"
#include "gguf/metadata_builder.hpp"
#include "support/gguf_exercise.hpp"
#include "support/temporary_folder.hpp"

namespace luce::gguf {
namespace {

using support::exercise_gguf;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Record {
  std::string name;
  std::vector<uint64_t> dims;  // innermost first, as in the file
  uint32_t type = 0;
  uint64_t offset = 0;
};

/// A version 3 header without metadata, followed by data.
std::vector<std::byte> file_with(const std::vector<Record>& records, size_t data_bytes) {
  ByteBuffer file;
  file.raw(std::as_bytes(std::span("GGUF", 4)));
  file.number<uint32_t>(3);
  file.number<uint64_t>(records.size());
  file.number<uint64_t>(0);
  for (const Record& record : records) {
    file.string(record.name);
    file.number(static_cast<uint32_t>(record.dims.size()));
    for (const uint64_t dim : record.dims) file.number(dim);
    file.number(record.type);
    file.number(record.offset);
  }
  while (file.size() % 32 != 0) file.number<uint8_t>(0);
  file.raw(std::vector<std::byte>(data_bytes));
  return file.take();
}

std::string verdict(const std::vector<Record>& records, size_t data_bytes) {
  const support::TemporaryFolder folder;
  return exercise_gguf(folder.write("m.gguf", file_with(records, data_bytes)));
}

TEST(Reader, TensorsMayNotOverlapNorHaveOneName) {
  EXPECT_EQ(verdict({{"a", {8}, 0, 0}, {"b", {8}, 0, 32}}, 64), "");
  EXPECT_EQ(verdict({{"a", {8}, 0, 32}, {"b", {8}, 0, 0}}, 64), "");
  EXPECT_THAT(verdict({{"a", {9}, 0, 0}, {"b", {8}, 0, 32}}, 96), HasSubstr("'a' and 'b' overlap"));
  EXPECT_THAT(verdict({{"a", {8}, 0, 0}, {"b", {8}, 0, 0}}, 96), HasSubstr("overlap"));
  EXPECT_THAT(verdict({{"a", {8}, 0, 0}, {"a", {8}, 0, 32}}, 96), HasSubstr("'a' appears twice"));
}

TEST(Reader, OffsetsAreAlignedAndRowsFillBlocks) {
  EXPECT_THAT(verdict({{"a", {8}, 0, 16}}, 64), HasSubstr("expected a multiple of the alignment 32"));
  EXPECT_THAT(verdict({{"a", {33, 2}, 8, 0}}, 640), HasSubstr("Q8_0 needs a multiple of 32"));
  EXPECT_EQ(verdict({{"a", {32, 2}, 8, 0}}, 68), "");
  EXPECT_THAT(verdict({{"a", {32, 2}, 8, 0}}, 67), HasSubstr("ends inside its tensor data"));
}

TEST(Reader, ScalarsAndGapsAreFine) {
  EXPECT_EQ(verdict({{"scalar", {}, 0, 0}, {"far", {1, 1, 1, 1}, 0, 320}}, 324), "");
  EXPECT_EQ(verdict({}, 0), "");
}

TEST(Reader, NamesFromTheFileAreSafeToPrint) {
  EXPECT_THAT(verdict({{"a\x1b[31m\n", {8}, 77, 0}}, 64), HasSubstr("'a\\x1b[31m\\x0a' has type 77"));
  EXPECT_THAT(verdict({{std::string(2000, 'n'), {8}, 0, 0}}, 64), HasSubstr("2000 bytes, expected 1 to 1024"));
}

TEST(Reader, OtherFilesAreCalledByTheirName) {
  const support::TemporaryFolder folder;
  const std::string safetensors = std::string("\x40\0\0\0\0\0\0\0", 8) + R"({"__metadata__":{}})";
  const std::vector<std::pair<std::string, std::string>> files = {{safetensors, "safetensors"},
                                                                  {"PK\x03\x04 and more", "ZIP archive"},
                                                                  {"\x1f\x8b\x08 zipped", "gzip"},
                                                                  {"{\"error\": \"not found\"}", "JSON"},
                                                                  {"<html><body>", "web page"},
                                                                  {"version https://git-lfs", "Git LFS pointer"},
                                                                  {std::string(64, '\0'), "incomplete download"},
                                                                  {"lmgg1234", "older format"},
                                                                  {"FUGG1234", "big-endian"},
                                                                  {"MZ\x90 program", "another kind of file"}};
  for (const auto& [content, expected] : files) {
    EXPECT_THAT(exercise_gguf(folder.write("m.gguf", content)),
                AllOf(HasSubstr("not a GGUF file"), HasSubstr(expected)));
  }
}

TEST(Reader, OtherVersionsAreRefused) {
  const support::TemporaryFolder folder;
  for (const auto& [version, expected] : {std::pair{1U, "too old"}, {0U, "too old"}, {4U, "not known"}}) {
    ByteBuffer file;
    file.raw(std::as_bytes(std::span("GGUF", 4)));
    file.number(version);
    file.raw(std::vector<std::byte>(16));
    EXPECT_THAT(exercise_gguf(folder.write("m.gguf", file.take())), HasSubstr(expected));
  }
}

Metadata some_metadata() {
  MetadataBuilder builder;
  builder.set_string("text", "seven");
  builder.set_i32("negative", -1);
  builder.set_u64("large", uint64_t{1} << 40);
  builder.set_f64("wide", 1e300);
  builder.set_bool("flag", false);
  builder.set_i32s("numbers", std::vector<int32_t>{1, -2});
  builder.set_strings("words", std::vector<std::string>{"a"});
  return builder.build("some.gguf");
}

TEST(Metadata, ErrorsNameKeyExpectedAndFound) {
  const Metadata metadata = some_metadata();
  const auto refuses = [](auto access, const char* key, const char* expected, const char* found) {
    EXPECT_THAT(access, ThrowsMessage<Error>(
                            AllOf(HasSubstr("some.gguf"), HasSubstr(key), HasSubstr(expected), HasSubstr(found))));
  };
  refuses([&] { metadata.get_u32("text"); }, "key text", "integer", "'seven' of type string");
  refuses([&] { metadata.get_u32("negative"); }, "key negative", "0 to 4294967295", "-1 of type i32");
  refuses([&] { metadata.get_u64("negative"); }, "key negative", "not below 0", "-1 of type i32");
  refuses([&] { metadata.get_u32("large"); }, "key large", "0 to 4294967295", "1099511627776 of type u64");
  refuses([&] { metadata.get_f32("wide"); }, "key wide", "f32", "of type f64");
  refuses([&] { metadata.get_bool("negative"); }, "key negative", "a bool", "of type i32");
  refuses([&] { metadata.get_string("flag"); }, "key flag", "a string", "false of type bool");
  refuses([&] { metadata.get_u32s("numbers"); }, "key numbers, element 1", "0 to 4294967295", "-2 of type i32");
  refuses([&] { metadata.get_f32s("words"); }, "key words, element 0", "f32", "'a' of type string");
  refuses([&] { metadata.get_strings("flag"); }, "key flag", "an array", "of type bool");
  refuses([&] { metadata.get_u32("absent"); }, "key absent", "missing", "");
  EXPECT_FALSE(metadata.find_u32("absent"));
  EXPECT_EQ(metadata.get_i64("negative"), -1);
  EXPECT_EQ(metadata.get_u64("large"), uint64_t{1} << 40);
  EXPECT_THAT(metadata.get_f32s("numbers"), testing::ElementsAre(1.0F, -2.0F));
}

TEST(Metadata, ABuilderReplacesInPlaceAndRemoves) {
  MetadataBuilder builder(some_metadata());
  builder.set_u32("text", 7);
  EXPECT_TRUE(builder.remove("flag"));
  EXPECT_FALSE(builder.remove("flag"));
  const Metadata changed = builder.build("changed.gguf");
  EXPECT_EQ(changed.key(0), "text");
  EXPECT_EQ(changed.get_u32("text"), 7U);
  EXPECT_EQ(changed.size(), 6U);
}

TEST(Metadata, CopiesOutliveTheFile) {
  const support::TemporaryFolder folder;
  std::vector<std::string_view> words;
  const Metadata kept = some_metadata();
  {
    const Metadata copy = kept;
    words = copy.get_strings("words");
  }
  EXPECT_EQ(words.at(0), "a");
}

TEST(Metadata, BadBoolsAndDeepArraysAreRefused) {
  MetadataBuilder bad_bool;
  bad_bool.set_raw("flag", 7, {std::byte{2}});
  EXPECT_THAT([&] { bad_bool.build("x"); }, ThrowsMessage<Error>(HasSubstr("'flag' holds a bool of 2")));
  ByteBuffer deep;
  for (int level = 0; level < 9; ++level) {
    deep.number<uint32_t>(9);
    deep.number<uint64_t>(1);
  }
  deep.number<uint32_t>(0);
  deep.number<uint64_t>(0);
  MetadataBuilder nested;
  nested.set_raw("deep", 9, deep.take());
  EXPECT_THAT([&] { nested.build("x"); }, ThrowsMessage<Error>(HasSubstr("'deep' nests arrays more than 8 deep")));
}

}  // namespace
}  // namespace luce::gguf
