#include "tensor/format.hpp"

#include <gtest/gtest.h>

#include "tensor/shape.hpp"

namespace luce::tensor {
namespace {

TEST(Format, IdsAndNamesFindTheSameFormat) {
  for (const FormatInfo& format : all_formats()) {
    EXPECT_EQ(format_from_id(static_cast<uint32_t>(format.format)), format.format);
    EXPECT_EQ(format_from_name(format.name), format.format);
    EXPECT_EQ(&info(format.format), &format);
  }
}

TEST(Format, RemovedAndUnknownIdsAreNoFormat) {
  for (const uint32_t id : {4U, 5U, 9U, 15U, 31U, 33U, 36U, 38U, 41U, 99U, 0xffffffffU}) {
    EXPECT_FALSE(format_from_id(id)) << id;
  }
  EXPECT_FALSE(format_from_name("q4_k"));
  EXPECT_FALSE(format_from_name(""));
}

TEST(Format, PackedBytes) {
  EXPECT_EQ(packed_bytes(Format::q4_k, 2048), 1152);
  EXPECT_EQ(packed_bytes(Format::q8_0, 32), 34);
  EXPECT_EQ(packed_bytes(Format::mxfp4, 0), 0);
}

TEST(Shape, RowsAndWidth) {
  const Shape experts({16, 64, 32});
  EXPECT_EQ(experts.rows(), 1024);
  EXPECT_EQ(experts.width(), 32);
  EXPECT_EQ(experts.elements(), 32768);
  EXPECT_EQ(experts.to_string(), "[16, 64, 32]");
  EXPECT_EQ(Shape().elements(), 1);
}

}  // namespace
}  // namespace luce::tensor
