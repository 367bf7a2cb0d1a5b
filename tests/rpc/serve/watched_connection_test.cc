// What a connection holds that no call accounts for.
#include "server/rpc/serve/watched_connection.h"

#include <chrono>

#include <gtest/gtest.h>

namespace skiplane::rpc {
namespace {

using std::chrono::seconds;

constexpr int64_t kMega = 1 << 20;
const WatchedConnection::SteadyTime kStart = std::chrono::steady_clock::now();

class WatchedConnectionTest : public ::testing::Test {
 protected:
  Held Judge(int64_t streams) {
    return watched_.Judge(StreamCounts::Counts{.begun = streams}, calls_, 0, kStart + seconds(9));
  }

  // A call came whole, and was answered.
  void Call(int64_t bytes) {
    ++calls_.begun;
    ++calls_.answered;
    calls_.bytes += bytes;
  }

  CallTally::Counts calls_;
  WatchedConnection watched_{net::Connection(), "ipv4:1.2.3.4:5", "party", calls_, kStart};
};

TEST_F(WatchedConnectionTest, WhatCameWithoutACallIsHeldWhileAStreamIs) {
  watched_.Measure(3 * kMega, calls_, true, kStart + seconds(1));
  EXPECT_EQ(Judge(1).bytes, 3 * kMega);
  EXPECT_EQ(Judge(0).bytes, 0);
  EXPECT_EQ(Judge(1).bytes, 0) << "it is gone for good";
}

TEST_F(WatchedConnectionTest, ABodyThatMovesIsStalledSinceTheLastCall) {
  watched_.Measure(kMega, calls_, true, kStart + seconds(2));
  EXPECT_EQ(Judge(1).stalled, absl::Seconds(9));
  Call(100);
  watched_.Measure(2 * kMega, calls_, true, kStart + seconds(4));
  EXPECT_EQ(Judge(1).stalled, absl::Seconds(5));
}

TEST_F(WatchedConnectionTest, LargeRequestsLeaveNothingHoweverMany) {
  int64_t received = 0;
  for (int i = 1; i <= 1000; ++i) {
    received += 4 * kMega + 8000;  // with the heads of frames, and of records of TLS
    Call(4 * kMega);
    watched_.Measure(received, calls_, true, kStart + seconds(i));
  }
  EXPECT_LT(Judge(1).bytes, 1 << 10);
}

TEST_F(WatchedConnectionTest, SmallRequestsGiveNoCredit) {
  for (int i = 1; i <= 1000; ++i) Call(100);
  watched_.Measure(100 * kMega / 1000, calls_, true, kStart + seconds(1));
  watched_.Measure(100 * kMega / 1000 + kMega, calls_, true, kStart + seconds(2));
  EXPECT_EQ(Judge(1).bytes, kMega);
}

TEST_F(WatchedConnectionTest, CallsThatSomebodyWaitsForAreNotHeld) {
  calls_.under_way = 300;
  EXPECT_EQ(Judge(400).streams, 100);
  EXPECT_EQ(Judge(200).streams, 0);
}

TEST_F(WatchedConnectionTest, CallsThatWaitedBeforeMemoryWasShortMayLeave) {
  calls_.under_way = 5000;
  watched_.Measure(1, calls_, true, kStart);
  calls_.under_way = 1000;
  watched_.Measure(2, calls_, false, kStart);
  EXPECT_EQ(Judge(7000).streams, 6000);
  EXPECT_EQ(Judge(7000).leaving, 4000);
  EXPECT_EQ(Judge(3000).leaving, 2000) << "no more than there are";
  calls_.under_way = 6000;
  EXPECT_EQ(Judge(7000).leaving, 0);
}

TEST_F(WatchedConnectionTest, CallsThatBeganWhenMemoryWasShortMayNot) {
  calls_.under_way = 5000;
  WatchedConnection other(net::Connection(), "ipv4:1.2.3.4:5", "party", calls_, kStart);
  other.Measure(1, calls_, false, kStart);
  const Held held = other.Judge(StreamCounts::Counts{.begun = 5000}, {}, 0, kStart);
  EXPECT_EQ(held.streams, 5000);
  EXPECT_EQ(held.leaving, 0);
}

TEST_F(WatchedConnectionTest, BytesAreHeldBesideCallsThatLeave) {
  calls_.under_way = 5000;
  watched_.Measure(1, calls_, true, kStart);
  calls_.under_way = 0;
  watched_.Measure(3 * kMega + 1, calls_, false, kStart);
  EXPECT_EQ(Judge(100).leaving, 100);
  EXPECT_EQ(Judge(100).bytes, 3 * kMega + 1);
}

TEST_F(WatchedConnectionTest, ItIsJudgedByTheCallsThatItGaveUpSinceMemoryIsShort) {
  calls_.given_up = 500;
  watched_.Measure(1, calls_, true, kStart);
  calls_.given_up += 80;
  calls_.answered += 30;
  watched_.Measure(2, calls_, false, kStart);
  EXPECT_EQ(Judge(1).resets, 50);
  calls_.answered += 100;
  EXPECT_EQ(Judge(1).resets, 0);
  EXPECT_EQ(Judge(1).given_up, 580);
  EXPECT_EQ(Judge(1).answered, 130);
}

TEST_F(WatchedConnectionTest, WhoReadsNothingOfAnAnswerIsStalledSinceItReadLast) {
  const auto stalled = [&](int second) {
    return watched_.JudgeAnswers(kStart + seconds(second)).stalled;
  };
  watched_.MeasureAnswers(0, calls_, kStart + seconds(1));
  calls_.answer_bytes = kMega;
  watched_.MeasureAnswers(100, calls_, kStart + seconds(3));
  EXPECT_EQ(watched_.JudgeAnswers(kStart).bytes, kMega);
  EXPECT_EQ(stalled(4), absl::Seconds(3)) << "what it takes are pings";
  watched_.MeasureAnswers(64 << 10, calls_, kStart + seconds(5));
  EXPECT_EQ(stalled(6), absl::Seconds(1)) << "a slow one takes a part of it";
  ++calls_.read;
  watched_.MeasureAnswers(64 << 10, calls_, kStart + seconds(6));
  EXPECT_EQ(stalled(6), absl::ZeroDuration()) << "it took a small one";
  calls_.answer_bytes = 0;
  watched_.MeasureAnswers(64 << 10, calls_, kStart + seconds(9));
  EXPECT_EQ(stalled(9), absl::ZeroDuration()) << "there is nothing to read";
}

TEST_F(WatchedConnectionTest, NothingIsSaidOfOneThatGrpcDoesNotKnow) {
  watched_.Measure(50 * kMega, calls_, true, kStart + seconds(1));
  const Held held = watched_.Judge(std::nullopt, calls_, 0, kStart + seconds(40));
  EXPECT_EQ(held.bytes, 0);
  EXPECT_EQ(held.streams, 0);
}

TEST_F(WatchedConnectionTest, GrpcIsAskedAboutThoseThatSendOrHoldSomething) {
  EXPECT_FALSE(watched_.IsBusy());
  watched_.Measure(10, calls_, true, kStart);
  EXPECT_TRUE(watched_.IsBusy());
  Judge(1);
  EXPECT_TRUE(watched_.IsBusy()) << "it holds a stream";
  Judge(0);
  EXPECT_FALSE(watched_.IsBusy());
}

TEST_F(WatchedConnectionTest, CallsThatCameBeforeItWasLookedAtExplainTheirBytes) {
  Call(4 * kMega);
  WatchedConnection other(net::Connection(), "ipv4:1.2.3.4:5", "party", calls_, kStart);
  other.Measure(6 * kMega, calls_, false, kStart);
  EXPECT_LE(other.Judge(StreamCounts::Counts{.begun = 1}, calls_, 0, kStart).bytes, 2 * kMega);
}

}  // namespace
}  // namespace skiplane::rpc
