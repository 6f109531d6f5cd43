#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/isa.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/quantised_rows.hpp"
#include "expectation.hpp"
#include "guarded.hpp"
#include "seen_activations.hpp"
#include "tensor/reference.hpp"

namespace luce::device::cpu {
namespace {

using tensor::Format;

struct Case {
  int64_t weight_rows, width, x_rows;
};

std::vector<Expected> expected_products(const std::vector<float>& weights, const std::vector<double>& x,
                                        const Case& size) {
  std::vector<Expected> expected;
  for (int64_t r = 0; r < size.x_rows; ++r)
    for (int64_t w = 0; w < size.weight_rows; ++w) {
      Expected sum;
      for (int64_t i = 0; i < size.width; ++i) {
        const double product = static_cast<double>(weights[static_cast<size_t>(w * size.width + i)]) *
                               x[static_cast<size_t>(r * size.width + i)];
        sum.value += product;
        sum.magnitude += std::fabs(product);
      }
      expected.push_back(sum);
    }
  return expected;
}

/// Every format on every ISA of this machine, forced.
class Dots : public testing::TestWithParam<std::tuple<const KernelTable*, Format>> {
 protected:
  const KernelTable& table() const { return *std::get<0>(GetParam()); }
  Format format() const { return std::get<1>(GetParam()); }

  std::vector<int64_t> widths() const {
    const int64_t block = tensor::info(format()).block_elements;
    if (block > 1) return {block, 3 * block, 4 * block};
    return {1, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100, 257};
  }

  void pack(const Case& size) {
    const auto count = static_cast<size_t>(size.weight_rows * size.width);
    std::vector<std::byte> file(static_cast<size_t>(tensor::packed_bytes(format(), static_cast<int64_t>(count))));
    tensor::quantise(format(), random_values(count, 7, 0.5F), file);
    weights_.resize(count);
    tensor::dequantise(format(), file, weights_);
    const PanelLayout* const layout = find_panel_layout(format());
    const int64_t panels = (size.weight_rows + kPanelRows - 1) / kPanelRows;
    packed_ = Guarded<uint8_t>(layout ? static_cast<size_t>(panels * layout->panel_bytes(size.width)) : file.size(), 4);
    if (layout != nullptr)
      pack_panels(*layout, {file.data(), size.weight_rows, size.width}, bytes(), 0, panels);
    else
      std::copy(file.begin(), file.end(), bytes());
  }

  std::byte* bytes() { return reinterpret_cast<std::byte*>(packed_.data()); }

  std::vector<float> multiply(const Case& size, Guarded<float>& x, int64_t first_row, int64_t rows) {
    const Matrix matrix(format(), packed_.address(), size.weight_rows, size.width);
    Guarded<float> out(static_cast<size_t>(rows * size.weight_rows));
    std::vector<const float*> x_rows;
    std::vector<float*> out_rows;
    for (int64_t r = 0; r < rows; ++r) {
      x_rows.push_back(x.data() + (first_row + r) * size.width);
      out_rows.push_back(out.data() + r * size.weight_rows);
    }
    QuantisedRows quantised;
    if (matrix.panels != nullptr) {
      quantised.reserve(rows, size.width);
      quantised.quantise(machine_, x_rows.data());
    }
    multiply_rows({machine_, 0}, matrix, {0, size.weight_rows},
                  {.x = x_rows.data(), .blocks = quantised.rows(), .out = out_rows.data(), .count = rows});
    out.expect_intact();
    return out.values();
  }

  void check(const Case& size) {
    Guarded<float> x(random_values(static_cast<size_t>(size.x_rows * size.width), 11));
    const std::vector<float> got = multiply(size, x, 0, size.x_rows);
    // Two chains of at least four lanes, so width / 8 roundings in a row, some more in joining and decoding.
    const double constant = 4 + static_cast<double>(size.width) / 8;
    const std::string what = std::string(table().name) + " " + std::string(tensor::info(format()).name) + " " +
                             std::to_string(size.weight_rows) + "x" + std::to_string(size.width) + " times " +
                             std::to_string(size.x_rows) + " rows";
    expect_close(got, expected_products(weights_, seen_by(format(), {x.data(), x.size()}), size), constant, what);
    for (int64_t r = 0; r < size.x_rows; ++r) {
      const std::vector<float> alone = multiply(size, x, r, 1);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), got.begin() + r * size.weight_rows))
          << what << ": row " << r << " alone gives other bits";
    }
    packed_.expect_intact();
  }

  base::ThreadPool pool_{1};
  Workspace workspace_{1};
  Machine machine_{pool_, table(), workspace_};
  Guarded<uint8_t> packed_{0};
  std::vector<float> weights_;
};

TEST_P(Dots, AgreeWithDoubleAndDoNotDependOnOtherRows) {
  for (const int64_t width : widths()) {
    pack({37, width, 0});
    for (const int64_t weight_rows : {1, 5, 16, 37})
      for (const int64_t x_rows : {1, 2, 3, 4, 5, 7, 8, 15, 67}) check({weight_rows, width, x_rows});
  }
}

TEST_P(Dots, ReadRowsAsTheReferenceDoes) {
  for (const int64_t width : widths()) {
    pack({3, width, 1});
    const Matrix matrix(format(), packed_.address(), 3, width);
    for (int64_t row = 0; row < 3; ++row) {
      Guarded<float> out(static_cast<size_t>(width));
      read_row({machine_, 0}, matrix, row, out.data());
      out.expect_intact();
      for (int64_t i = 0; i < width; ++i) {
        const float expected = weights_[static_cast<size_t>(row * width + i)];
        EXPECT_FLOAT_EQ(out[static_cast<size_t>(i)], expected) << tensor::info(format()).name << " element " << i;
      }
    }
  }
}

TEST_P(Dots, RunOnTheForcedTableAlone) {
  pack({4, widths().back(), 5});
  for (const KernelTable* other : available_tables()) *other->ran = 0;
  Guarded<float> x(random_values(static_cast<size_t>(5 * widths().back()), 3));
  multiply({4, widths().back(), 5}, x, 0, 5);
  for (const KernelTable* other : available_tables())
    EXPECT_EQ(*other->ran, other == &table() ? 1 : 0) << other->name << " when " << table().name << " is forced";
}

std::vector<Format> computing_formats() {
  std::vector<Format> formats;
  for (const tensor::FormatInfo& info : tensor::all_formats())
    if (info.computes) formats.push_back(info.format);
  return formats;
}

std::string case_name(const testing::TestParamInfo<std::tuple<const KernelTable*, Format>>& test) {
  const auto& [table, format] = test.param;
  return std::string(table->name) + "_" + std::string(tensor::info(format).name);
}

INSTANTIATE_TEST_SUITE_P(All, Dots,
                         testing::Combine(testing::ValuesIn(available_tables().begin(), available_tables().end()),
                                          testing::ValuesIn(computing_formats())),
                         case_name);

}  // namespace
}  // namespace luce::device::cpu
