#include "server/http/writer.h"

#include <deque>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace skiplane::http {
namespace {

// Takes what the test says, and lets the other end acknowledge what it says.
class SlowTransport final : public Transport {
 public:
  explicit SlowTransport(boost::asio::io_context& io) : io_(io) {}

  boost::asio::any_io_executor executor() override { return io_.get_executor(); }
  void ShakeHands(std::function<void(bool)> /*done*/) override {}
  std::string PeerName() override { return ""; }
  absl::Time PeerExpiry() override { return absl::InfiniteFuture(); }
  void Read(char* /*bytes*/, size_t /*size*/, Done /*done*/) override {}
  void Write(absl::string_view bytes, Done done) override {
    offered = std::string(bytes);
    taken = std::move(done);
  }
  int64_t Unacknowledged() override {
    ++times_asked;
    const int64_t left = unacknowledged.front();
    if (unacknowledged.size() > 1) unacknowledged.pop_front();
    return left;
  }
  void EndSending(std::function<void()> /*done*/) override {}
  bool EndsBoth() const override { return false; }
  void Close() override {}

  void Take(size_t bytes) { std::exchange(taken, nullptr)(bytes); }

  std::string offered;
  Done taken;
  std::deque<int64_t> unacknowledged = {0};  // what it says one time after the other
  int times_asked = 0;

 private:
  boost::asio::io_context& io_;
};

class Owner final : public Writer::Owner, public std::enable_shared_from_this<Owner> {
 public:
  std::shared_ptr<Writer::Owner> Keep() override { return shared_from_this(); }
  void OnAllWritten() override { ++all_written; }
  void OnWriteFailed() override { ++failed; }

  int all_written = 0;
  int failed = 0;
};

class WriterTest : public ::testing::Test {
 protected:
  void Write(const std::string& piece) {
    answers_.Hold(static_cast<int64_t>(piece.size()));
    writer_.Write(piece, static_cast<int64_t>(piece.size()));
  }

  boost::asio::io_context io_;
  SlowTransport transport_{io_};
  metrics::Metrics metrics_{"1.2.3", "abc"};
  ByteBudget budget_{1000, 100, "http", metrics_};
  ByteBudget::Account answers_{budget_};
  std::shared_ptr<Owner> owner_ = std::make_shared<Owner>();
  Writer writer_{*owner_, transport_, answers_, absl::Milliseconds(1)};
};

TEST_F(WriterTest, PiecesGoInTheirOrderAndAreHeldUntilTheyAreWhole) {
  Write("first");
  Write("second");
  EXPECT_EQ(transport_.offered, "first");
  transport_.Take(2);
  EXPECT_EQ(transport_.offered, "rst");
  EXPECT_EQ(budget_.bytes(), 11);
  transport_.Take(3);
  EXPECT_EQ(transport_.offered, "second");
  EXPECT_EQ(budget_.bytes(), 6);
  EXPECT_FALSE(writer_.is_idle());
  transport_.Take(6);
  EXPECT_TRUE(writer_.is_idle());
  EXPECT_EQ(budget_.bytes(), 0);
  EXPECT_EQ(owner_->all_written, 1);
  io_.run();
  EXPECT_EQ(owner_->failed, 0);
}

TEST_F(WriterTest, WhoTakesNothingInTimeHasFailed) {
  transport_.unacknowledged = {4000};
  Write("piece");
  io_.run();
  EXPECT_EQ(owner_->failed, 1);
  EXPECT_EQ(transport_.times_asked, 2);
}

TEST_F(WriterTest, WhoTakesLittleHasNot) {
  transport_.unacknowledged = {4000, 3999, 3000, 1, 1};
  Write("piece");
  io_.run();
  EXPECT_EQ(owner_->failed, 1);
  EXPECT_EQ(transport_.times_asked, 5);
}

TEST_F(WriterTest, WhatTheKernelMayBeReadingIsHeldUntilItHasEnded) {
  Write("first");
  Write("second");
  writer_.Close();
  EXPECT_EQ(budget_.bytes(), 11);
  transport_.Take(0);
  EXPECT_EQ(budget_.bytes(), 0);
  Write("late");
  EXPECT_EQ(budget_.bytes(), 0);
  EXPECT_EQ(owner_->all_written + owner_->failed, 0);
}

}  // namespace
}  // namespace skiplane::http
