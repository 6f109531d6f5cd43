#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "experts/cached_expert_service.hpp"
#include "experts/fake_device.hpp"
#include "experts/fake_source.hpp"
#include "experts/routing_rows.hpp"

namespace luce::experts {

/// A service over a fake source and device.
struct ServiceFixture {
  explicit ServiceFixture(const std::vector<FakeSource::Layer>& layers, const std::vector<int>& slots,
                          int stream_slots = 2, const char* policy = "lru")
      : ServiceFixture(std::make_unique<FakeSource>(layers), settings_for(slots, stream_slots, policy)) {}

  ServiceFixture(std::unique_ptr<FakeSource> made, const CacheSettings& settings)
      : source(*made), service(std::make_unique<CachedExpertService>(std::move(made), device, settings)) {}

  static CacheSettings settings_for(const std::vector<int>& slots, int stream_slots, const char* policy) {
    CacheSettings settings;
    settings.tier.slots = slots;
    settings.tier.stream_slots = stream_slots;
    settings.tier.policy = PolicySpec::parse(policy);
    return settings;
  }

  /// The experts of a wave, after a look at every byte of each.
  std::vector<int32_t> experts_of(int layer, std::span<const device::PlacedExpert> wave) const {
    std::vector<int32_t> experts;
    for (const device::PlacedExpert& placed : wave) {
      experts.push_back(placed.expert);
      const size_t matrix_bytes = source.layout(layer).up_offset;
      for (const device::Address at : {placed.gate, placed.up, placed.down}) {
        const auto* words = reinterpret_cast<const uint32_t*>(at);
        for (size_t i = 0; i < matrix_bytes / 4; ++i) EXPECT_EQ(words[i], FakeSource::word(layer, placed.expert));
      }
    }
    return experts;
  }

  /// All waves of one routing, checked: each routed expert once, all bytes right.
  std::vector<std::vector<int32_t>> run(const RoutingRows& rows) {
    const device::Routing routing = rows.view();
    device::Dispatch& dispatch = service->start(routing);
    std::vector<std::vector<int32_t>> waves;
    std::multiset<int32_t> served;
    for (auto wave = dispatch.next_wave(); !wave.empty(); wave = dispatch.next_wave()) {
      waves.push_back(experts_of(routing.layer, wave));
      served.insert(waves.back().begin(), waves.back().end());
    }
    const std::set<int32_t> routed(routing.ids, routing.ids + routing.rows * routing.top_k);
    EXPECT_EQ(served, std::multiset<int32_t>(routed.begin(), routed.end()));
    return waves;
  }

  FakeDevice device;
  FakeSource& source;
  std::unique_ptr<CachedExpertService> service;
};

}  // namespace luce::experts
