#include "base/byte_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace luce::base {
namespace {

struct SizeRow {
  const char* text;
  int64_t bytes;
};

class ByteSize : public testing::TestWithParam<SizeRow> {};

TEST_P(ByteSize, IsParsed) { EXPECT_EQ(parse_byte_size(GetParam().text), GetParam().bytes) << GetParam().text; }

INSTANTIATE_TEST_SUITE_P(Rows, ByteSize,
                         testing::Values(SizeRow{"0", 0}, SizeRow{"4096", 4096}, SizeRow{"7B", 7},
                                         SizeRow{"14GiB", 14LL << 30}, SizeRow{"512 MiB", 512LL << 20},
                                         SizeRow{"1.5GB", 1'500'000'000}, SizeRow{"1.5 gib", 3LL << 29},
                                         SizeRow{" 2 KB ", 2000}, SizeRow{"3KiB", 3072}, SizeRow{"2TiB", 2LL << 40},
                                         SizeRow{"1TB", 1'000'000'000'000}, SizeRow{"0.1KiB", 102},
                                         SizeRow{"0.0000000000000000000000001TB", 0},
                                         SizeRow{"9223372036854775807", INT64_MAX},
                                         SizeRow{"8388607TiB", 8388607LL << 40}));

TEST(ByteSizeErrors, NameTheFlagAndWhatIsAllowed) {
  for (const char* text :
       {"", "GiB", "-1", "+1", "1.GiB", ".5GiB", "14 GiBs", "1e9", "0x10", "14G iB", "1,5GB", "nan", "1 2"}) {
    try {
      parse_byte_size(text, "--ram-memory");
      ADD_FAILURE() << "accepted \"" << text << '"';
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("--ram-memory")) << text;
      EXPECT_THAT(error.what(), testing::HasSubstr("KiB MiB GiB TiB KB MB GB TB")) << text;
    }
  }
}

TEST(ByteSizeErrors, OverflowIsRefused) {
  for (const char* text :
       {"9223372036854775808", "8388608TiB", "99999999999999999999999999999999999999999999TB", "9223372036854775808B"})
    EXPECT_THROW(parse_byte_size(text), Error) << text;
}

TEST(FormatBytes, TakesTheLargestUnitAtOrAboveOne) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes((1LL << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(3LL << 29), "1.50 GiB");
  EXPECT_EQ(format_bytes(-(3LL << 29)), "-1.50 GiB");
  EXPECT_EQ(format_bytes(INT64_MAX), "8.00 EiB");
}

}  // namespace
}  // namespace luce::base
