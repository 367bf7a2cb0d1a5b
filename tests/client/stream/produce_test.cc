// Enqueues on a stream: what goes together, and what becomes of it when the stream breaks.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "skiplane/client.h"
#include "skiplane/error.h"
#include "tests/client/stream/fake_streams.h"

namespace skiplane {
namespace {

using Results = absl::StatusOr<std::vector<EnqueueResult>>;

class ProduceTest : public testing::Test {
 protected:
  Client Connected(ClientOptions options = {}) {
    options.addresses = {broker_.address()};
    options.backoff = absl::Milliseconds(1);
    return *Client::Connect(options);
  }

  std::future<Results> Begin(Client& client, const std::string& payload) {
    auto promise = std::make_shared<std::promise<Results>>();
    std::future<Results> answer = promise->get_future();
    calls_.push_back(client.EnqueueAsync({.queue = "q", .tasks = {{.payload = payload}}},
                                         [promise](Results results) {
                                           promise->set_value(std::move(results));
                                         }));
    return answer;
  }

  // How many enqueues came on a stream so far, the first one being 1.
  size_t CountOn(int stream) const {
    size_t count = 0;
    for (const auto& message : broker_.produced) {
      if (message.stream == stream) count += static_cast<size_t>(message.request.enqueues_size());
    }
    return count;
  }

  // By payload, of a stream.
  std::vector<std::pair<std::string, std::string>> IdsOn(int stream) const {
    std::vector<std::pair<std::string, std::string>> ids;
    for (const auto& message : broker_.produced) {
      if (message.stream != stream) continue;
      for (const auto& enqueue : message.request.enqueues()) {
        ids.emplace_back(enqueue.request().tasks(0).payload(), enqueue.request().request_id());
      }
    }
    return ids;
  }

  static v1::Refusal Refused(grpc::StatusCode code, const std::string& reason,
                             const std::string& field = "") {
    v1::Refusal refusal;
    refusal.set_code(code);
    refusal.set_reason(reason);
    refusal.set_field(field);
    refusal.set_message("no");
    return refusal;
  }

  FakeStreams broker_;
  std::vector<PendingCall> calls_;
};

TEST_F(ProduceTest, ManyCallersShareOneStreamAndItsMessages) {
  constexpr int kThreads = 8;
  constexpr int kEach = 2000;
  Client client = Connected();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::future<Results>> answers;
      for (int j = 0; j < kEach; ++j) {
        auto promise = std::make_shared<std::promise<Results>>();
        answers.push_back(promise->get_future());
        const std::string payload = std::to_string(i) + "-" + std::to_string(j);
        client.EnqueueAsync({.queue = "q", .tasks = {{.payload = payload}}},
                            [promise](Results results) { promise->set_value(std::move(results)); });
      }
      for (int j = 0; j < kEach; ++j) {
        const Results results = answers[static_cast<size_t>(j)].get();
        const std::string own = "task-" + std::to_string(i) + "-" + std::to_string(j);
        if (results.ok() && results->at(0).task_id == own) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads * kEach) << "each got the answer to its own";
  EXPECT_EQ(broker_.produce_streams, 1);
  EXPECT_TRUE(broker_.enqueues.empty()) << "none goes by a call of its own";
  EXPECT_LT(broker_.produced.size(), size_t{kThreads * kEach}) << "some go together";
  for (const auto& message : broker_.produced) EXPECT_LE(message.request.enqueues_size(), 1000);
}

TEST_F(ProduceTest, WhatABrokenStreamHasNotAnsweredIsSentAgainUnderItsId) {
  broker_.HoldAnswers(true);
  Client client = Connected();
  std::vector<std::future<Results>> answers;
  for (const char* payload : {"a", "b", "c"}) answers.push_back(Begin(client, payload));
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 3; }));
  broker_.HoldAnswers(false);
  broker_.EndProduce({grpc::UNAVAILABLE, "away"});
  for (auto& answer : answers) EXPECT_TRUE(answer.get().ok());
  EXPECT_EQ(IdsOn(2).size(), 3u);
  const auto first = IdsOn(1);
  const auto second = IdsOn(2);
  EXPECT_EQ((std::set<std::pair<std::string, std::string>>(first.begin(), first.end())),
            (std::set<std::pair<std::string, std::string>>(second.begin(), second.end())));
  EXPECT_EQ(first[0].second.size(), 32u);
}

TEST_F(ProduceTest, ACallIsGivenUpAfterItsLastAttempt) {
  broker_.RefuseNext(100, Refused(grpc::UNAVAILABLE, "DATABASE_UNAVAILABLE"));
  Client client = Connected({.max_attempts = 3});
  const Results results = Begin(client, "a").get();
  EXPECT_EQ(results.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrorReason(results.status()), "DATABASE_UNAVAILABLE");
  EXPECT_EQ(CountOn(1), 3u);
}

TEST_F(ProduceTest, ARefusalIsWhatTheCallWouldHaveBeenRefusedWith) {
  broker_.RefuseNext(1, Refused(grpc::NOT_FOUND, "QUEUE_NOT_FOUND", "queue"));
  Client client = Connected();
  const Results results = Begin(client, "a").get();
  EXPECT_EQ(results.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorReason(results.status()), "QUEUE_NOT_FOUND");
  EXPECT_EQ(ErrorField(results.status()), "queue");
  EXPECT_EQ(results.status().message(), "no");
  EXPECT_EQ(CountOn(1), 1u);
}

TEST_F(ProduceTest, WhatHasNoRoomIsRepeatedWhenTheBrokerSaysSo) {
  v1::Refusal refusal = Refused(grpc::RESOURCE_EXHAUSTED, "QUEUE_FULL");
  broker_.RefuseNext(1, refusal);
  Client client = Connected();
  EXPECT_EQ(Begin(client, "a").get().status().code(), absl::StatusCode::kResourceExhausted);
  refusal.mutable_retry_delay()->set_nanos(1'000'000);
  broker_.RefuseNext(2, refusal);
  EXPECT_TRUE(Begin(client, "b").get().ok());
  EXPECT_EQ(CountOn(1), 4u);
}

TEST_F(ProduceTest, ACallEndsAtItsDeadline) {
  broker_.HoldAnswers(true);
  Client client = Connected({.call_timeout = absl::Milliseconds(50)});
  EXPECT_EQ(Begin(client, "a").get().status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ProduceTest, ACancelledCallEndsAndItsAnswerIsForNobody) {
  broker_.HoldAnswers(true);
  Client client = Connected();
  auto answer = Begin(client, "a");
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 1; }));
  calls_[0].Cancel();
  EXPECT_EQ(answer.get().status().code(), absl::StatusCode::kCancelled);
  v1::ProduceResponse late;
  late.add_results()->set_number(broker_.produced[0].request.enqueues(0).number());
  broker_.Say(std::move(late));
  broker_.HoldAnswers(false);
  EXPECT_TRUE(Begin(client, "b").get().ok());
}

TEST_F(ProduceTest, AStreamThatDrainsIsAnsweredWhileTheNextOneIsUsed) {
  broker_.HoldAnswers(true);
  Client client = Connected();
  auto first = Begin(client, "a");
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 1; }));
  v1::ProduceResponse draining;
  draining.set_draining(true);
  v1::ProduceResult* const result = draining.add_results();
  result->set_number(broker_.produced[0].request.enqueues(0).number());
  result->mutable_response()->add_results()->set_task_id("from the old one");
  broker_.Say(std::move(draining));
  EXPECT_EQ(first.get()->at(0).task_id, "from the old one");
  broker_.HoldAnswers(false);
  EXPECT_TRUE(Begin(client, "b").get().ok());
  EXPECT_EQ(CountOn(2), 1u);
}

// A broker may refuse what it has not read to its end, as one whose memory is short does.
TEST_F(ProduceTest, WhatIsRefusedWhileItIsWrittenGoesOnTheNextStreamOnceItIsWritten) {
  broker_.HoldReadsOf(1);
  Client client = Connected();
  auto large = Begin(client, std::string(FakeBroker::kBytesSentUnread * 4, 'x'));
  ASSERT_TRUE(broker_.Wait([this] { return broker_.produce_streams == 1; }));
  v1::ProduceResponse draining;
  draining.set_draining(true);
  draining.add_results()->set_number(1);
  *draining.mutable_results(0)->mutable_refusal() =
      Refused(grpc::UNAVAILABLE, "DATABASE_UNAVAILABLE");
  broker_.Say(std::move(draining));
  ASSERT_TRUE(Begin(client, "b").get().ok()) << "the client knows that the first stream drains";
  broker_.RefuseNext(3, Refused(grpc::UNAVAILABLE, "DATABASE_UNAVAILABLE"));
  EXPECT_TRUE(Begin(client, "c").get().ok()) << "its pauses are longer than that of the large one";
  EXPECT_EQ(CountOn(2), 5u) << "the large one is not among them";
  broker_.HoldReadsOf(0);
  EXPECT_TRUE(large.get().ok());
  ASSERT_EQ(CountOn(1), 1u);
  EXPECT_EQ(IdsOn(2).back(), IdsOn(1)[0]) << "it is sent again under its id";
  EXPECT_EQ(broker_.produce_streams, 2);
}

TEST_F(ProduceTest, AStreamThatEndsInOrderCostsNoPause) {
  broker_.HoldAnswers(true);
  auto client = *Client::Connect({.addresses = {broker_.address()},
                                  .call_timeout = absl::Hours(2),
                                  .backoff = absl::Hours(1),
                                  .max_backoff = absl::Hours(1)});
  auto answer = Begin(client, "a");
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 1; }));
  broker_.HoldAnswers(false);
  broker_.EndProduce(grpc::Status::OK);
  EXPECT_TRUE(answer.get().ok());
}

// One of them may be to blame, and only a call of its own is told so.
TEST_F(ProduceTest, AStreamThatIsRefusedLeavesItsEnqueuesToCalls) {
  broker_.HoldAnswers(true);
  Client client = Connected();
  auto first = Begin(client, "a");
  auto second = Begin(client, "b");
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 2; }));
  broker_.EndProduce({grpc::INVALID_ARGUMENT, "not UTF-8"});
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_EQ(broker_.Get<size_t>([this] { return broker_.enqueues.size(); }), 2u);
}

class ProduceTokenTest : public ProduceTest {
 protected:
  ProduceTokenTest() { Write("first"); }
  ~ProduceTokenTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& token) const { std::ofstream(path_) << token << "\n"; }

  const std::string path_ = absl::StrCat(testing::TempDir(), "produce_token_", getpid());
};

TEST_F(ProduceTokenTest, WhatAStreamWasRefusedForItsTokenGoesOnOneWithTheNewToken) {
  broker_.HoldAnswers(true);
  Client client = Connected({.token_file = path_});
  auto answer = Begin(client, "a");
  ASSERT_TRUE(broker_.Wait([this] { return CountOn(1) == 1; }));
  EXPECT_EQ(broker_.stream_authorization, "Bearer first");
  Write("second");
  broker_.HoldAnswers(false);
  broker_.EndProduce({grpc::UNAUTHENTICATED, "has expired"});
  EXPECT_TRUE(answer.get().ok());
  EXPECT_EQ(CountOn(2), 1u);
  EXPECT_EQ(broker_.stream_authorization, "Bearer second");
}

TEST_F(ProduceTokenTest, AStreamThatEndsWhileNothingIsUnderWayIsFollowedByAnother) {
  Client client = Connected({.token_file = path_});
  EXPECT_TRUE(Begin(client, "a").get().ok());
  Write("second");
  broker_.EndProduce({grpc::UNAUTHENTICATED, "has expired"});
  ASSERT_TRUE(broker_.Wait([this] { return broker_.ended_streams == 1; }));
  // Its end may still be on its way when this one is sent.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Begin(client, "b").get().ok());
  EXPECT_EQ(CountOn(2), 3u);
  EXPECT_TRUE(broker_.enqueues.empty()) << "none goes by a call of its own";
}

TEST_F(ProduceTest, WhatIsTooLargeOrMayNotBeRepeatedGoesAlone) {
  Client client = Connected();
  EXPECT_TRUE(client.Enqueue("q", {.payload = std::string(size_t{7} << 19, 'x')}).ok());
  EXPECT_TRUE(
      client.Enqueue({.queue = "q", .tasks = {{}}, .without_request_id = true}).ok());
  EXPECT_EQ(broker_.enqueues.size(), 2u);
  EXPECT_EQ(broker_.produce_streams, 0);
}

TEST_F(ProduceTest, TheStreamEndsWithItsClient) {
  {
    Client client = Connected();
    EXPECT_TRUE(client.Enqueue("q", {}).ok());
  }
  EXPECT_TRUE(broker_.Wait([this] { return broker_.ended_streams == 1; }));
}

}  // namespace
}  // namespace skiplane
