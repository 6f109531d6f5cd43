#include "experts/profile_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/error.hpp"
#include "support/temporary_folder.hpp"

namespace luce::experts {
namespace {

/// Writes at most `most_bytes` at a time; ends the process or fails at one call, counted from 0.
class FaultyDisk final : public ProfileDisk {
 public:
  enum class Fault { kill_before, kill_midway, fail };
  FaultyDisk(int at, Fault fault, size_t most_bytes = 100) : at_(at), fault_(fault), most_bytes_(most_bytes) {}

  int create(const std::string& path) override { return hit() ? -1 : ProfileDisk::create(path); }
  ssize_t write(int descriptor, std::string_view bytes) override {
    const std::string_view piece = bytes.substr(0, most_bytes_);
    if (calls_ == at_ && fault_ == Fault::kill_midway)
      ProfileDisk::write(descriptor, piece.substr(0, piece.size() / 2));
    return hit() ? -1 : ProfileDisk::write(descriptor, piece);
  }
  int sync(int descriptor) override { return hit() ? -1 : ProfileDisk::sync(descriptor); }
  int close(int descriptor) override {
    const bool failed = hit();
    const int result = ProfileDisk::close(descriptor);
    return failed ? -1 : result;
  }
  int rename(const std::string& from, const std::string& to) override {
    return hit() ? -1 : ProfileDisk::rename(from, to);
  }
  int sync_folder(const std::string& path) override { return hit() ? -1 : ProfileDisk::sync_folder(path); }

  int calls() const { return calls_; }

 private:
  bool hit() {
    if (calls_++ != at_) return false;
    if (fault_ != Fault::fail) ::raise(SIGKILL);
    errno = ENOSPC;
    return true;
  }

  int at_;
  Fault fault_;
  size_t most_bytes_;
  int calls_ = 0;
};

const std::string kOld(1000, 'o');
const std::string kNew(1500, 'n');

class ProfileFile : public testing::Test {
 protected:
  std::string path() const { return folder_.path("router_state.json"); }
  void SetUp() override {
    ProfileDisk disk;
    replace_file(disk, path(), kOld);
  }
  int calls_of_a_save() const {
    FaultyDisk disk(-1, FaultyDisk::Fault::fail);
    replace_file(disk, path(), kNew);
    ProfileDisk real;
    replace_file(real, path(), kOld);
    return disk.calls();
  }
  support::TemporaryFolder folder_;
};

TEST_F(ProfileFile, KilledAtEveryCallLeavesTheOldOrTheNew) {
  const int calls = calls_of_a_save();
  EXPECT_GE(calls, 1 + 15 + 4);
  int old = 0, renewed = 0;
  for (const auto fault : {FaultyDisk::Fault::kill_before, FaultyDisk::Fault::kill_midway})
    for (int at = 0; at < calls; ++at) {
      const pid_t child = ::fork();
      if (child == 0) {
        FaultyDisk disk(at, fault);
        replace_file(disk, path(), kNew);
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      const std::string found = read_whole_file(path());
      EXPECT_TRUE(found == kOld || found == kNew) << "call " << at << ", " << found.size() << " bytes";
      (found == kOld ? old : renewed) += 1;
      ProfileDisk disk;
      replace_file(disk, path(), kOld);  // whatever the killed save left behind is no obstacle
    }
  EXPECT_GT(old, 20);
  EXPECT_GT(renewed, 0);
}

TEST_F(ProfileFile, AFailureAtEveryCallLeavesTheOldAndNoDraft) {
  const int calls = calls_of_a_save();
  for (int at = 0; at + 1 < calls; ++at) {  // the last one syncs the folder, after the new file is in place
    FaultyDisk disk(at, FaultyDisk::Fault::fail);
    EXPECT_THROW(replace_file(disk, path(), kNew), Error) << "call " << at;
    EXPECT_EQ(read_whole_file(path()), kOld) << "call " << at;
    EXPECT_FALSE(std::filesystem::exists(path() + ".tmp")) << "call " << at;
  }
}

TEST_F(ProfileFile, AFullDeviceIsAnError) {
  class FullDisk final : public ProfileDisk {
    int create(const std::string&) override { return ProfileDisk::create("/dev/full"); }
    int remove(const std::string&) override { return 0; }
  } full;
  EXPECT_THROW(replace_file(full, path(), kNew), Error);
  EXPECT_EQ(read_whole_file(path()), kOld);
}

TEST_F(ProfileFile, AFolderThatIsNotThereIsAnError) {
  ProfileDisk disk;
  EXPECT_THROW(replace_file(disk, folder_.path("none/p.json"), kNew), Error);
}

TEST_F(ProfileFile, FollowsALink) {
  const std::filesystem::path link = folder_.path("link.json");
  std::filesystem::create_symlink(path(), link);
  ProfileDisk disk;
  replace_file(disk, link.string(), kNew);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_whole_file(path()), kNew);
}

}  // namespace
}  // namespace luce::experts
