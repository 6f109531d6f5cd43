#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "experts/fake_device.hpp"
#include "experts/gguf_source.hpp"
#include "gguf/writer.hpp"

namespace luce::experts {
namespace {

using gguf::TensorSpec;
using tensor::Format;
using testing::HasSubstr;

/// Files of expert tensors whose bytes are unlike each other.
class SourceFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }

  gguf::File write(const std::vector<TensorSpec>& tensors) const {
    gguf::MetadataBuilder metadata;
    metadata.set_string("general.architecture", "test");
    gguf::Writer writer(path, metadata, tensors);
    uint8_t next = 1;
    for (const TensorSpec& tensor : tensors) {
      std::vector<std::byte> bytes(gguf::tensor_bytes(tensor));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(next = static_cast<uint8_t>(next * 5 + 3));
      writer.append(bytes);
    }
    writer.finish();
    return gguf::File::open(path);
  }

  void expect_refused(const std::vector<TensorSpec>& tensors, ErrorKind kind, const std::string& text) {
    const gguf::File file = write(tensors);
    try {
      GgufExpertSource(file, device, 1);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }

  std::vector<std::byte> fetched(const GgufExpertSource& source, int layer, int32_t expert) const {
    std::vector<std::byte> slot(source.layout(layer).slot_bytes), staging(source.staging_bytes());
    source.fetch(layer, expert, reinterpret_cast<device::Address>(slot.data()), staging);
    return slot;
  }

  const std::string path =
      testing::TempDir() + "source_file_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".gguf";
  FakeDevice device;
};

const TensorSpec kGate = {"blk.0.ffn_gate_exps.weight", Format::q8_0, {3, 32, 64}};
const TensorSpec kUp = {"blk.0.ffn_up_exps.weight", Format::q4_0, {3, 32, 64}};
const TensorSpec kDown = {"blk.0.ffn_down_exps.weight", Format::f32, {3, 64, 32}};
const TensorSpec kGateUp = {"blk.0.ffn_gate_up_exps.weight", Format::q8_0, {3, 64, 64}};

TEST_F(SourceFile, PacksSeparateTensorsOneBehindTheOther) {
  const gguf::File file = write({kDown, kGate, kUp});
  const GgufExpertSource source(file, device, 1);
  EXPECT_EQ(source.shape(0).gate, Format::q8_0);
  EXPECT_EQ(source.shape(0).up, Format::q4_0);
  EXPECT_EQ(source.shape(0).down, Format::f32);
  const size_t gate_bytes = 32 * 68, up_bytes = 32 * 36, down_bytes = 64 * 32 * 4;
  EXPECT_EQ(source.fetch_bytes(0), gate_bytes + up_bytes + down_bytes);
  EXPECT_EQ(source.staging_bytes(), down_bytes);
  EXPECT_EQ(source.layout(0).up_offset, gate_bytes);
  EXPECT_EQ(source.layout(0).down_offset, gate_bytes + up_bytes);
  for (int32_t expert = 0; expert < 3; ++expert) {
    std::vector<std::byte> expected;
    for (const TensorSpec* spec : {&kGate, &kUp, &kDown}) {
      const gguf::TensorInfo& tensor = file.get(spec->name);
      std::vector<std::byte> piece(tensor.bytes / 3);
      file.read(tensor, static_cast<uint64_t>(expert) * piece.size(), piece);
      expected.insert(expected.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(fetched(source, 0, expert), expected);
  }
}

TEST_F(SourceFile, AFusedTensorHoldsGateRowsThenUpRows) {
  const gguf::File file = write({kGateUp, kDown});
  const GgufExpertSource source(file, device, 1);
  EXPECT_EQ(source.shape(0).inner, 32);
  EXPECT_EQ(source.shape(0).width, 64);
  const gguf::TensorInfo& fused = file.get(kGateUp.name);
  for (int32_t expert = 0; expert < 3; ++expert) {
    std::vector<std::byte> piece(fused.bytes / 3);
    file.read(fused, static_cast<uint64_t>(expert) * piece.size(), piece);
    std::vector<std::byte> slot = fetched(source, 0, expert);
    slot.resize(piece.size());
    EXPECT_EQ(slot, piece);
  }
}

TEST_F(SourceFile, LayersMayBeDenseOrOfOtherFormats) {
  TensorSpec gate = kGate, up = kUp, down = kDown;
  gate.name = "blk.2.ffn_gate_exps.weight";
  up.name = "blk.2.ffn_up_exps.weight";
  down.name = "blk.2.ffn_down_exps.weight";
  down.format = Format::q8_0;
  const gguf::File file = write({kGate, kUp, kDown, gate, up, down});
  const GgufExpertSource source(file, device, 3);
  EXPECT_EQ(source.shape(1).experts, 0);
  EXPECT_EQ(source.shape(2).experts, 3);
  EXPECT_LT(source.layout(2).slot_bytes, source.layout(0).slot_bytes);
}

TEST_F(SourceFile, RefusesTensorsThatDoNotFit) {
  const auto with_shape = [](TensorSpec spec, const tensor::Shape& shape) {
    spec.shape = shape;
    return spec;
  };
  expect_refused({kGate, kUp}, ErrorKind::invalid_file, "blk.0.ffn_down_exps.weight");
  expect_refused({kGate, kDown}, ErrorKind::invalid_file, "blk.0.ffn_up_exps.weight");
  expect_refused({kDown}, ErrorKind::invalid_file, "blk.0.ffn_gate_exps.weight");
  expect_refused({kGate, with_shape(kUp, {3, 64, 64}), kDown}, ErrorKind::invalid_file, "[3, 32, 64]");
  expect_refused({with_shape(kGate, {2, 32, 64}), kUp, kDown}, ErrorKind::invalid_file, kGate.name);
  expect_refused({kGate, kUp, with_shape(kDown, {64, 32})}, ErrorKind::invalid_file, "[experts, rows, width]");
  expect_refused({with_shape(kGateUp, {3, 32, 64}), kDown}, ErrorKind::invalid_file, "[3, 64, 64]");
}

TEST_F(SourceFile, RefusesFormatsTheDeviceCannotMultiply) {
  TensorSpec gate = kGate;
  gate.format = Format::i32;
  expect_refused({gate, kUp, kDown}, ErrorKind::unsupported, "I32");
}

TEST_F(SourceFile, ATruncatedFileIsAnErrorOfTheRead) {
  const gguf::File file = write({kGate, kUp, kDown});
  const GgufExpertSource source(file, device, 1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
  fetched(source, 0, 0);
  try {
    fetched(source, 0, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr(path));
  }
}

}  // namespace
}  // namespace luce::experts
