#include "experts/profile_keeper.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "experts/service_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace luce::experts {
namespace {

/// A service of two layers with a keeper over one file.
class Restartable : public testing::Test {
 protected:
  struct Life {
    Life(const std::string& path, const std::string& name, ProfileDisk* disk, const char* policy = "lru")
        : f({{8}, {0}, {8}}, {3, 0, 3}, 2, policy) {
      KeeperSettings settings{path, fingerprint(*f.service, "arch", name)};
      settings.warn = [this](const std::string& text) { warnings.push_back(text); };
      settings.fade_tokens = 100;
      settings.disk = disk;
      keeper = std::make_unique<ProfileKeeper>(*f.service, settings);
    }
    void decode(const std::vector<int32_t>& experts, int times) {
      for (int step = 0; step < times; ++step) {
        f.run(RoutingRows(0, {experts}));
        f.run(RoutingRows(2, {experts}));
        f.service->end_step();
      }
    }
    ServiceFixture f;
    std::vector<std::string> warnings;
    std::unique_ptr<ProfileKeeper> keeper;
  };
  std::unique_ptr<Life> start(const std::string& name = "m", ProfileDisk* disk = nullptr) {
    return std::make_unique<Life>(path(), name, disk, policy_);
  }
  std::string path() const { return folder_.path("router_state.json"); }
  void save_usage() {
    const auto life = start();
    life->decode({5, 6}, 4);
    life->decode({1}, 2);
    life->keeper->save();
  }
  support::TemporaryFolder folder_;
  const char* policy_ = "lru";
};

TEST_F(Restartable, WarmsWithWhatTheLifeBeforeUsed) {
  save_usage();
  const auto life = start();
  EXPECT_TRUE(life->warnings.empty());
  EXPECT_EQ(life->keeper->state().state, "active");
  EXPECT_GE(life->keeper->state().age_seconds, 0);
  EXPECT_EQ(life->keeper->ranking().size(), 6U);
  EXPECT_EQ(life->f.service->warm({life->keeper->ranking(), 1.0, {}, nullptr}).loaded, 6);
  for (const int layer : {0, 2})
    for (int32_t expert = 0; expert < 8; ++expert)
      EXPECT_EQ(life->f.service->is_resident(layer, expert), expert == 1 || expert == 5 || expert == 6);
}

TEST_F(Restartable, KeepsTheLatestUsesAndTheTagsToo) {
  for (const char* const policy : {"hot-score", "lru"}) {
    policy_ = policy;
    std::filesystem::remove(path());
    {
      const auto life = start();
      const RowOwner owner{1, 1, true, "secret session", "rag_qa"};
      for (int i = 0; i < 10; ++i) {
        life->f.service->begin_step(std::vector{owner});
        life->decode({4, 5}, 1);
      }
      life->keeper->save();
    }
    const auto life = start();
    EXPECT_TRUE(life->warnings.empty());
    EXPECT_EQ(life->f.service->fast_scores(0).empty(), policy_ == std::string("lru"));
    if (policy_ != std::string("lru")) {
      EXPECT_GT(life->f.service->fast_scores(0)[4], 0);
    }
    const std::vector<LabelCounts> tags = life->f.service->request_usage().tags();
    ASSERT_EQ(tags.size(), 1U);
    EXPECT_EQ(tags[0].name, "rag_qa");
    EXPECT_NEAR(tags[0].counts[0][4], 10, 0.1);
    EXPECT_EQ(life->f.service->request_usage().tally().sessions, 0U);
    EXPECT_EQ(read_whole_file(path()).find("secret"), std::string::npos);
  }
}

TEST_F(Restartable, FadesWhatWasLoadedAndKeepsIt) {
  save_usage();
  const auto life = start();
  life->decode({2}, 100);
  life->keeper->save();
  const Profile profile = decode_profile(read_whole_file(path()), fingerprint(*life->f.service, "arch", "m"));
  EXPECT_DOUBLE_EQ(profile.layers[0].decode[2], 100);
  EXPECT_DOUBLE_EQ(profile.layers[0].decode[5], 2);  // 4, halved by 100 tokens
  EXPECT_TRUE(profile.layers[1].decode.empty());
}

TEST_F(Restartable, StartsColdWithAWarningWhenThereIsNothing) {
  const auto life = start();
  EXPECT_EQ(life->warnings.size(), 1U);
  EXPECT_EQ(life->keeper->state().state, "active");
  EXPECT_LT(life->keeper->state().age_seconds, 0);
  EXPECT_TRUE(life->keeper->ranking().empty());
}

TEST_F(Restartable, RefusesAnotherModelsProfileAndSetsItAside) {
  save_usage();
  const std::string before = read_whole_file(path());
  const auto life = start("other");
  EXPECT_EQ(life->keeper->state().state, "degraded");
  EXPECT_NE(life->keeper->state().reason.find("another model"), std::string::npos);
  ASSERT_EQ(life->warnings.size(), 1U);
  EXPECT_TRUE(life->keeper->ranking().empty());
  EXPECT_EQ(read_whole_file(path()), before);
  life->decode({3}, 1);
  life->keeper->save();
  EXPECT_EQ(life->keeper->state().state, "active");
  EXPECT_EQ(read_whole_file(path() + ".before"), before);
  EXPECT_EQ(start("other")->keeper->ranking().size(), 2U);
}

TEST_F(Restartable, StartsWithEveryTruncationAndAFolder) {
  save_usage();
  const std::string text = read_whole_file(path());
  for (size_t length = 0; length < text.size() - 1; length += 7) {
    folder_.write("router_state.json", text.substr(0, length));
    const auto life = start();
    EXPECT_EQ(life->keeper->state().state, "degraded") << length;
    EXPECT_EQ(life->warnings.size(), 1U) << length;
  }
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(start()->keeper->state().state, "degraded");
}

TEST_F(Restartable, SavesOnlyWhenSomethingWasRouted) {
  const auto life = start();
  life->keeper->save();
  EXPECT_FALSE(std::filesystem::exists(path()));
  life->decode({3}, 1);
  life->keeper->save();
  life->keeper->save();
  EXPECT_EQ(life->keeper->state().saves, 1U);
}

TEST_F(Restartable, CountsSavesThatFailAndRecovers) {
  class ReadOnlyDisk final : public ProfileDisk {
   public:
    int create(const std::string& path) override {
      if (writable) return ProfileDisk::create(path);
      errno = EROFS;
      return -1;
    }
    bool writable = false;
  } disk;
  const auto life = start("m", &disk);
  life->decode({3}, 1);
  life->keeper->save();
  life->keeper->save();
  EXPECT_EQ(life->keeper->state().save_errors, 2U);
  EXPECT_EQ(life->keeper->state().state, "degraded");
  EXPECT_EQ(life->warnings.size(), 2U);  // the missing profile, and the first failure
  disk.writable = true;
  life->keeper->save();
  EXPECT_EQ(life->keeper->state().state, "active");
}

TEST_F(Restartable, SavesAtIntervalsBesideSteps) {
  ServiceFixture f({{8}}, {4});
  KeeperSettings settings{path(), fingerprint(*f.service, "arch", "m")};
  settings.save_interval_seconds = 0.002;
  ProfileKeeper keeper(*f.service, settings);
  keeper.start_saving();
  for (int32_t step = 0; keeper.state().saves < 3 && step < 200'000; ++step) {
    f.run(RoutingRows(0, {{step % 8, (step + 1) % 8}}));
    f.service->end_step();
  }
  EXPECT_GE(keeper.state().saves, 3U);
}

TEST_F(Restartable, StartsFromARanking) {
  folder_.write("router_state.json", R"({"domains":{"code":{"per_layer_domain_preferred":{"0":[7,2],"2":[4]}}}})");
  const auto life = start();
  EXPECT_TRUE(life->warnings.empty());
  EXPECT_EQ(life->keeper->state().state, "active");
  EXPECT_EQ(life->keeper->ranking().size(), 3U);
  life->decode({3}, 1);
  life->keeper->save();
  EXPECT_TRUE(std::filesystem::exists(path() + ".before"));
}

}  // namespace
}  // namespace luce::experts
