#include "server/app/files/file_watch.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skiplane::app {
namespace {

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    std::filesystem::create_directories(folder_);
    Write("secret", "one");
  }
  ~FileWatchTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  void Tell() {
    ++told_;
    told_.notify_all();
  }
  void WaitForTold(int times) const {
    for (int told = told_; told < times; told = told_) told_.wait(told);
  }

  const std::string folder_ = absl::StrCat(::testing::TempDir(), "file_watch_", getpid());
  std::atomic<int> told_ = 0;
};

TEST(FileStatesTest, APairThatIsReplacedOverTwoLooksIsToldOnce) {
  FileStates states("old certificate, old key");
  EXPECT_FALSE(states.Look("new certificate, old key")) << "no pair";
  EXPECT_FALSE(states.Look("new certificate, new key")) << "it may go on";
  EXPECT_TRUE(states.Look("new certificate, new key"));
  EXPECT_FALSE(states.Look("new certificate, new key"));
}

TEST_F(FileWatchTest, TellsOfOtherContentAndOfAnotherFileUnderTheName) {
  const FileWatch watch({Path("secret")}, [this] { Tell(); });
  Write("secret", "two, longer");
  WaitForTold(1);
  Write("new", "three");
  std::filesystem::rename(Path("new"), Path("secret"));
  WaitForTold(2);
}

TEST_F(FileWatchTest, TellsOfAnotherTargetOfALink) {
  Write("next", "two");
  std::filesystem::create_symlink(Path("secret"), Path("link"));
  const FileWatch watch({Path("link")}, [this] { Tell(); });
  std::filesystem::create_symlink(Path("next"), Path("link.new"));
  std::filesystem::rename(Path("link.new"), Path("link"));
  WaitForTold(1);
}

TEST_F(FileWatchTest, TellsWhenAFileComesThatWasNotThere) {
  const FileWatch watch({Path("later")}, [this] { Tell(); });
  Write("later", "x");
  WaitForTold(1);
}

TEST_F(FileWatchTest, TellsOfOtherRights) {
  const FileWatch watch({Path("secret")}, [this] { Tell(); });
  std::filesystem::permissions(Path("secret"), std::filesystem::perms::owner_read);
  WaitForTold(1);
}

TEST_F(FileWatchTest, FollowsOtherNamesAndTellsNothingOfThoseThatItLeft) {
  Write("other", "one");
  FileWatch watch({Path("secret")}, [this] { Tell(); });
  watch.Follow({Path("other")});
  Write("secret", "two, of another length");
  Write("other", "two, of another length");
  WaitForTold(1);
  Write("third", "x");
  watch.Follow({Path("other")});  // the same: nothing that changed is lost
  Write("other", "three");
  WaitForTold(2);
  EXPECT_EQ(told_, 2);
}

TEST_F(FileWatchTest, TellsOnceOfAChange) {
  FileWatch watch({Path("secret")}, [this] { Tell(); });
  Write("secret", "two, of another length");
  WaitForTold(1);
  Write("later", "x");
  watch.Follow({Path("later")});
  Write("later", "xy");
  WaitForTold(2);  // some looks later: the first change was not told again
  EXPECT_EQ(told_, 2);
}

}  // namespace
}  // namespace skiplane::app
