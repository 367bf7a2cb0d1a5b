#include "server/app/files/file_watch.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
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
  void WaitForTold(int times) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (told_ < times) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }

  const std::string folder_ = absl::StrCat(::testing::TempDir(), "file_watch_", getpid());
  std::atomic<int> told_ = 0;
};

TEST_F(FileWatchTest, TellsOfOtherContentAndOfAnotherFileUnderTheName) {
  const FileWatch watch({Path("secret")}, [this] { ++told_; });
  Write("secret", "two, longer");
  WaitForTold(1);
  Write("new", "three");
  std::filesystem::rename(Path("new"), Path("secret"));
  WaitForTold(2);
}

TEST_F(FileWatchTest, TellsOfAnotherTargetOfALink) {
  Write("next", "two");
  std::filesystem::create_symlink(Path("secret"), Path("link"));
  const FileWatch watch({Path("link")}, [this] { ++told_; });
  std::filesystem::create_symlink(Path("next"), Path("link.new"));
  std::filesystem::rename(Path("link.new"), Path("link"));
  WaitForTold(1);
}

TEST_F(FileWatchTest, TellsWhenAFileComesThatWasNotThere) {
  const FileWatch watch({Path("later")}, [this] { ++told_; });
  Write("later", "x");
  WaitForTold(1);
}

}  // namespace
}  // namespace skiplane::app
