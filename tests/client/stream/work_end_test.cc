// A worker whose stream is ended, or that hears nothing on it any more.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "skiplane/error.h"
#include "tests/client/stream/work_stream_fixture.h"

namespace skiplane {
namespace {

class WorkEndTest : public WorkStreamTest {
 protected:
  ~WorkEndTest() override { std::filesystem::remove(token_file_); }

  void WriteToken(const std::string& token) const { std::ofstream(token_file_) << token << "\n"; }

  // Notes the errors that a worker tells of.
  std::function<void(const absl::Status&)> Noted() {
    return [this](const absl::Status& error) {
      const std::lock_guard<std::mutex> lock(mutex_);
      errors_.push_back(error);
    };
  }

  std::vector<absl::Status> errors() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return errors_;
  }

  // A worker of one task, "held", whose handler waits at the gate.
  std::unique_ptr<Worker> Holding(WorkerOptions options = {}, ClientOptions client = {}) {
    options.on_error = Noted();
    auto worker = Started(Through(gate_), options, client);
    EXPECT_TRUE(IsGreeted(1));
    broker_.Push("held");
    gate_.WaitForArrivals(1);
    return worker;
  }

  // The next stream names the task, and it is settled there.
  void ExpectGoesOn(const Worker& worker) {
    ASSERT_TRUE(IsGreeted(2));
    ASSERT_EQ(HelloOf(2).leases_size(), 1);
    EXPECT_EQ(HelloOf(2).leases(0).lease_token(), "token-held");
    EXPECT_EQ(HelloOf(2).worker_id(), HelloOf(1).worker_id());
    gate_.Open();
    EXPECT_TRUE(Settles("held", 2));
    EXPECT_EQ(worker.counts().lost, 0);
  }

  const std::string token_file_ = absl::StrCat(testing::TempDir(), "work_token_", getpid());
  Gate gate_;

 private:
  std::mutex mutex_;
  std::vector<absl::Status> errors_;
};

TEST_F(WorkEndTest, AStreamThatIsReplacedIsFollowedByOneThatHoldsTheSame) {
  const auto worker = Holding();
  broker_.EndWork(EndedFor("STREAM_REPLACED"));
  ExpectGoesOn(*worker);
  ASSERT_EQ(errors().size(), 1u);
  EXPECT_EQ(ErrorReason(errors()[0]), "STREAM_REPLACED");
}

TEST_F(WorkEndTest, WhatAReplacedStreamHasNotAnsweredIsSettledAgain) {
  broker_.HoldResults(true);
  const auto worker = Started(AtOnce);
  ASSERT_TRUE(IsGreeted(1));
  broker_.Push("a");
  ASSERT_TRUE(Settles("a"));
  broker_.HoldResults(false);
  broker_.EndWork(EndedFor("STREAM_REPLACED"));
  ASSERT_TRUE(Settles("a", 2));
  worker->Stop();
  EXPECT_EQ(worker->counts().done, 1);
}

TEST_F(WorkEndTest, AStreamWhoseTokenIsRefusedIsFollowedByOneWithTheNewToken) {
  WriteToken("first");
  const auto worker = Holding({}, {.token_file = token_file_});
  EXPECT_EQ(broker_.stream_authorization, "Bearer first");
  WriteToken("second");
  broker_.EndWork({grpc::UNAUTHENTICATED, "has expired"});
  ExpectGoesOn(*worker);
  EXPECT_EQ(broker_.stream_authorization, "Bearer second");
  EXPECT_TRUE(errors().empty());
}

TEST_F(WorkEndTest, AWorkerWithoutANewTokenSaysSoAndAsksAgain) {
  WriteToken("first");
  const auto worker = Holding({}, {.token_file = token_file_});
  broker_.EndWork({grpc::UNAUTHENTICATED, "has expired"});
  ExpectGoesOn(*worker);
  ASSERT_EQ(errors().size(), 1u);
  EXPECT_TRUE(absl::IsUnauthenticated(errors()[0]));
}

// Places are given back before settlements are answered, so a worker may hold more than it has.
TEST_F(WorkEndTest, WhatIsHeldWhenThereAreNoStreamsAnyMoreIsRenewedByAsManyCallsAsThatTakes) {
  constexpr int kHeld = 1500;
  const auto worker = Holding({.lease_duration = absl::Seconds(1)});
  for (int i = 1; i < kHeld; ++i) broker_.Push(std::to_string(i));
  broker_.EndWork({grpc::UNIMPLEMENTED, "what is a stream?"});
  std::set<std::string> renewed;
  EXPECT_TRUE(broker_.WaitUntil([&] {
    for (const v1::HeartbeatRequest& heartbeat : broker_.heartbeats) {
      EXPECT_LE(heartbeat.leases_size(), 1000);
      for (const v1::HeldLease& lease : heartbeat.leases()) renewed.insert(lease.lease_token());
    }
    return renewed.size() == kHeld;
  }));
  gate_.Open();
}

// Suites of their own: a worker is patient for five seconds.
using WorkSilenceTest = WorkEndTest;
using WorkWelcomeTest = WorkEndTest;

TEST_F(WorkSilenceTest, AStreamWithoutAnAnswerToAHeartbeatIsGivenUp) {
  const auto worker = Holding({.lease_duration = absl::Seconds(1)});
  broker_.FallSilentOn(1);
  ExpectGoesOn(*worker);
  ASSERT_EQ(errors().size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(errors()[0])) << errors()[0];
}

TEST_F(WorkWelcomeTest, AStreamWithoutAWelcomeIsGivenUp) {
  broker_.FallSilentOn(1);
  const auto worker = Started(AtOnce, {.lease_duration = absl::Seconds(1), .on_error = Noted()});
  ASSERT_TRUE(IsGreeted(2));
  broker_.Push("a");
  EXPECT_TRUE(Settles("a", 2));
  EXPECT_TRUE(absl::IsUnavailable(errors().at(0))) << errors().at(0);
}

TEST_F(WorkEndTest, AStreamThatDrainsWithoutAnEndIsGivenUp) {
  const auto worker = Holding({.lease_duration = absl::Seconds(1)});
  v1::WorkResponse draining;
  draining.set_draining(true);
  broker_.Say(std::move(draining));
  ExpectGoesOn(*worker);
  EXPECT_TRUE(errors().empty()) << "it was to end";
}

// Results that are not answered are held beside the tasks that may come meanwhile.
TEST_F(WorkEndTest, AHeartbeatOfMoreThanAThousandLeasesIsSeveral) {
  constexpr int kTasks = 1500;
  broker_.HoldResults(true);
  const auto worker = Started(
      AtOnce, {.concurrency = 2, .prefetch = 998, .lease_duration = absl::Seconds(3)});
  ASSERT_TRUE(IsGreeted(1));
  for (int i = 0; i < 1000; ++i) broker_.Push(std::to_string(i));
  ASSERT_TRUE(broker_.Wait([this] { return CreditOn(1) >= kTasks; }));
  for (int i = 1000; i < kTasks; ++i) broker_.Push(std::to_string(i));
  std::set<std::string> named;
  ASSERT_TRUE(broker_.Wait([&] {
    named.clear();
    for (const auto& message : broker_.work) {
      for (const auto& lease : message.request.heartbeat().leases()) {
        named.insert(lease.lease_token());
      }
    }
    return named.size() == kTasks;
  }));
  for (const auto& message : broker_.work) {
    EXPECT_LE(message.request.heartbeat().leases_size(), 1000);
  }
  EXPECT_EQ(broker_.work_streams, 1) << "each part is answered";
  broker_.EndWork({grpc::UNAVAILABLE, "away"});
  ASSERT_TRUE(IsGreeted(2));
  EXPECT_EQ(HelloOf(2).leases_size(), kTasks);
  broker_.HoldResults(false);
  broker_.EndWork({grpc::UNAVAILABLE, "away"});
  worker->Stop();
  EXPECT_EQ(worker->counts().done, kTasks);
  EXPECT_EQ(worker->counts().lost, 0);
}

// As after the keys of lease tokens were replaced. The broker takes back what no hello names.
TEST_F(WorkEndTest, WhatATokenDoesNotProveAnyMoreIsGivenUp) {
  const auto worker = Holding();
  v1::Refusal refusal;
  refusal.set_code(grpc::INVALID_ARGUMENT);
  refusal.set_reason("INVALID_LEASE_TOKEN");
  broker_.RefuseNext(1, refusal);
  gate_.Open();
  ASSERT_TRUE(IsGreeted(2));
  EXPECT_EQ(HelloOf(2).leases_size(), 0);
  worker->Stop();
  EXPECT_EQ(worker->counts().lost, 1);
  EXPECT_FALSE(errors().empty());
}

}  // namespace
}  // namespace skiplane
