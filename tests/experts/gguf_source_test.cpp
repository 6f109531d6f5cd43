#include "experts/gguf_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/fake_device.hpp"
#include "experts/routing_rows.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

std::vector<std::byte> file_bytes(const gguf::File& file, const std::string& name, int32_t expert) {
  const gguf::TensorInfo& tensor = file.get(name);
  const uint64_t each = tensor.bytes / static_cast<uint64_t>(tensor.shape[0]);
  std::vector<std::byte> bytes(each);
  file.read(tensor, each * static_cast<uint64_t>(expert), bytes);
  return bytes;
}

std::vector<std::byte> device_bytes(device::Address from, size_t bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(from);
  return {begin, begin + bytes};
}

class DemoModel : public testing::Test {
 protected:
  gguf::File file = gguf::File::open(support::source_path("models/demo-q4_k_m.gguf"));
  FakeDevice device;
};

TEST_F(DemoModel, ShapesComeFromTheFile) {
  const GgufExpertSource source(file, device, 6);
  EXPECT_EQ(source.layers(), 6);
  for (int layer = 0; layer < 6; ++layer) {
    EXPECT_EQ(source.shape(layer).experts, 64);
    EXPECT_EQ(source.shape(layer).width, 256);
    EXPECT_EQ(source.shape(layer).inner, 64);
    EXPECT_EQ(source.layout(layer).slot_bytes % 64, 0U);
    EXPECT_GE(source.layout(layer).slot_bytes, source.fetch_bytes(layer));
  }
}

TEST_F(DemoModel, SlotsHoldTheFilesBytesAtEveryResidency) {
  for (const int slots : {1, 6, 20, 38, 64}) {
    CacheSettings settings;
    settings.tier.slots.assign(6, slots);
    CachedExpertService service(std::make_unique<GgufExpertSource>(file, device, 6), device, settings);
    for (int step = 0; step < 24; ++step)
      for (int layer = 0; layer < 6; ++layer) {
        const int32_t first = (step * 13 + layer * 5) % 61;
        const RoutingRows rows(layer, {{first, first + 1, first + 2, first + 3}, {0, 63, 20, 41}});
        device::Dispatch& dispatch = service.start(rows.view());
        int served = 0;
        for (auto wave = dispatch.next_wave(); !wave.empty(); wave = dispatch.next_wave())
          for (const device::PlacedExpert& placed : wave) {
            ++served;
            const auto expect_piece = [&](device::Address at, const char* part) {
              const auto bytes = file_bytes(file, fmt::format("blk.{}.ffn_{}_exps.weight", layer, part), placed.expert);
              ASSERT_EQ(device_bytes(at, bytes.size()), bytes) << part << " of expert " << placed.expert;
            };
            expect_piece(placed.gate, "gate");
            expect_piece(placed.up, "up");
            expect_piece(placed.down, "down");
          }
        ASSERT_GE(served, 4);
      }
    const Residency residency = service.residency();
    EXPECT_LE(residency.resident, residency.slots);
    EXPECT_EQ(residency.slots, 6 * slots);
  }
}

TEST(GgufExpertSource, DenseModelsHaveNoExperts) {
  FakeDevice device;
  const gguf::File file = gguf::File::open(support::golden_path("models/qwen3-nano-f32.gguf"));
  const GgufExpertSource source(file, device, 2);
  EXPECT_EQ(source.shape(0).experts, 0);
  EXPECT_EQ(source.staging_bytes(), 0U);
  EXPECT_EQ(source.fetch_bytes(1), 0U);
}

}  // namespace
}  // namespace luce::experts
