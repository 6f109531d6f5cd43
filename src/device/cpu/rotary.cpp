#include "device/cpu/rotary.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "device/cpu/lines.hpp"

namespace luce::device::cpu {
namespace {

std::span<const int32_t> positions_of(const Rotary& op) {
  return {ints(op.positions), static_cast<size_t>(op.x.shape[0])};
}

std::span<const float> factors_of(const Rotary& op) {
  if (op.frequency_factors.empty()) return {};
  return {floats(op.frequency_factors), static_cast<size_t>(op.dimensions / 2)};
}

}  // namespace

bool RotaryTables::Table::fits(const Rotary& op) const {
  return dimensions == op.dimensions && base == op.base && frequency_scale == op.frequency_scale &&
         std::ranges::equal(factors, factors_of(op)) && std::ranges::equal(positions, positions_of(op));
}

void RotaryTables::Table::fill(const Rotary& op) {
  dimensions = op.dimensions;
  base = op.base;
  frequency_scale = op.frequency_scale;
  factors.assign(factors_of(op).begin(), factors_of(op).end());
  positions.assign(positions_of(op).begin(), positions_of(op).end());
  const auto pairs = static_cast<size_t>(dimensions / 2);
  turns.resize(positions.size() * pairs);
  for (size_t i = 0; i < pairs; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / dimensions;
    double frequency = std::pow(static_cast<double>(base), exponent) * static_cast<double>(frequency_scale);
    if (!factors.empty()) frequency /= static_cast<double>(factors[i]);
    for (size_t row = 0; row < positions.size(); ++row) {
      const double angle = frequency * positions[row];
      turns[row * pairs + i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
  }
}

const RotaryTables::Table& RotaryTables::find(const Rotary& op) {
  for (const Table& table : tables_)
    if (table.fits(op)) return table;
  Table& table = tables_[oldest_];
  oldest_ = (oldest_ + 1) % tables_.size();
  table.fill(op);
  return table;
}

void RotaryTables::run(const Machine& machine, const Rotary& op) {
  const Table& table = find(op);
  const Lines x(op.x);
  const int64_t heads = op.x.shape[1], pairs = op.dimensions / 2;
  LUCE_CHECK(op.dimensions <= x.width(), "rotary dimensions lie within a head");
  // Distance of a pair's two values, and of neighbouring pairs.
  const int64_t apart = op.style == RotaryStyle::halves ? pairs : 1, step = op.style == RotaryStyle::halves ? 1 : 2;
  machine.pool.parallel_for(x.count(), grain_for(2 * x.width()), [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      const Turn* const turns = table.turns.data() + line / heads * pairs;
      float* const values = x[line];
      for (int64_t i = 0; i < pairs; ++i) {
        const float first = values[i * step], second = values[i * step + apart];
        values[i * step] = first * turns[i].cosine - second * turns[i].sine;
        values[i * step + apart] = first * turns[i].sine + second * turns[i].cosine;
      }
    }
  });
}

}  // namespace luce::device::cpu
