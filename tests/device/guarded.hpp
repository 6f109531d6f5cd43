#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "device/tensor.hpp"

namespace luce::device {

/// Values between guard bytes; `shift_bytes` moves them off their natural alignment to vectors.
template <typename Value>
class Guarded {
 public:
  explicit Guarded(size_t count, size_t shift_bytes = sizeof(Value))
      : begin_(kGuardBytes + shift_bytes), count_(count), bytes_(begin_ + count * sizeof(Value) + kGuardBytes, kGuard) {
    for (size_t i = 0; i < count; ++i) data()[i] = Value{};
  }
  explicit Guarded(const std::vector<Value>& values) : Guarded(values.size()) {
    if (!values.empty()) std::memcpy(data(), values.data(), values.size() * sizeof(Value));
  }

  Value* data() { return reinterpret_cast<Value*>(bytes_.data() + begin_); }
  const Value* data() const { return reinterpret_cast<const Value*>(bytes_.data() + begin_); }
  size_t size() const { return count_; }
  Value& operator[](size_t i) { return data()[i]; }
  Value operator[](size_t i) const { return data()[i]; }
  std::vector<Value> values() const { return {data(), data() + count_}; }
  Address address() { return reinterpret_cast<Address>(data()); }

  void expect_intact() const {
    const size_t end = begin_ + count_ * sizeof(Value);
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (i >= begin_ && i < end) continue;
      ASSERT_EQ(bytes_[i], kGuard) << "a guard byte " << static_cast<int64_t>(i - begin_) << " from the start changed";
    }
  }

 private:
  static constexpr size_t kGuardBytes = 64;
  static constexpr uint8_t kGuard = 0xA5;

  size_t begin_, count_;
  std::vector<uint8_t> bytes_;
};

}  // namespace luce::device
