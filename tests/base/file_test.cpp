#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "support/temporary_folder.hpp"

namespace luce::base {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(FileHandle, ReadsWhatWasAskedFor) {
  const support::TemporaryFolder folder;
  FileHandle opened = FileHandle::open(folder.write("a", "0123456789"));
  const FileHandle file = std::move(opened);
  EXPECT_EQ(file.size_bytes(), 10U);
  std::vector<std::byte> bytes(4);
  file.read_exact(6, bytes);
  EXPECT_EQ(text_of(bytes), "6789");
  file.read_exact(10, {});
}

TEST(FileHandle, RefusesRangesBeyondTheEnd) {
  const support::TemporaryFolder folder;
  const FileHandle file = FileHandle::open(folder.write("a", "0123456789"));
  std::vector<std::byte> bytes(4);
  for (const uint64_t offset : {uint64_t{7}, uint64_t{11}, ~uint64_t{0}, ~uint64_t{0} - 2}) {
    EXPECT_THAT([&] { file.read_exact(offset, bytes); }, ThrowsMessage<Error>(HasSubstr("the file has 10")));
  }
}

TEST(FileHandle, NoticesAFileThatBecameShorter) {
  const support::TemporaryFolder folder;
  const FileHandle file = FileHandle::open(folder.write("a", "0123456789"));
  std::filesystem::resize_file(folder.path("a"), 5);
  std::vector<std::byte> bytes(4);
  EXPECT_THAT([&] { file.read_exact(3, bytes); }, ThrowsMessage<Error>(HasSubstr("ends at byte 5")));
}

TEST(FileHandle, TellsWhatCannotBeOpened) {
  const support::TemporaryFolder folder;
  EXPECT_THAT([&] { FileHandle::open(folder.path("none")); }, ThrowsMessage<Error>(HasSubstr("no such file")));
  EXPECT_THAT([&] { FileHandle::open(folder.path()); }, ThrowsMessage<Error>(HasSubstr("a folder")));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { FileHandle::open(folder.path("pipe")); }, ThrowsMessage<Error>(HasSubstr("a pipe")));
}

TEST(MappedFile, AnyRangeShowsTheBytes) {
  const support::TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 3000; ++i) content += std::to_string(i) + ",";
  const FileHandle file = FileHandle::open(folder.write("a", content));
  for (const auto& [offset, bytes] : {std::pair{0U, 10U}, {4095U, 2U}, {4097U, 5000U}, {13U, 0U}}) {
    MappedFile first = MappedFile::map(file, offset, bytes);
    const MappedFile moved = std::move(first);
    EXPECT_EQ(text_of(moved.bytes()), content.substr(offset, bytes));
  }
  EXPECT_THAT([&] { MappedFile::map(file, content.size() - 1, 2); },
              ThrowsMessage<Error>(HasSubstr("cannot be mapped")));
}

TEST(OutputFile, AppearsOnlyWhenComplete) {
  const support::TemporaryFolder folder;
  const std::string large(3 << 20, 'x');
  {
    OutputFile file(folder.path("a"));
    file.append(bytes_of("head"));
    file.append(bytes_of(large));
    file.append_zeros(70);
    file.append(bytes_of("tail"));
    EXPECT_EQ(file.size_bytes(), large.size() + 78);
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
    file.commit();
  }
  const FileHandle file = FileHandle::open(folder.path("a"));
  std::vector<std::byte> bytes(file.size_bytes());
  file.read_exact(0, bytes);
  EXPECT_TRUE(text_of(bytes) == "head" + large + std::string(70, '\0') + "tail");
}

TEST(OutputFile, LeavesTheOldFileIfNotCommitted) {
  const support::TemporaryFolder folder;
  folder.write("a", "old");
  { OutputFile(folder.path("a")).append(bytes_of("new")); }
  EXPECT_EQ(FileHandle::open(folder.path("a")).size_bytes(), 3U);
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.part")));
}

}  // namespace
}  // namespace luce::base
