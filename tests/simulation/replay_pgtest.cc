#include "tests/broker/broker_harness.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/world.h"

namespace skiplane::testing {
namespace {

using simulation::Input;

// What a test does with two brokers, as a history of the simulation.
class ReplayTest : public BrokerHarness {
 protected:
  static constexpr const char* kQueues[] = {"a", "b"};
  static constexpr std::chrono::seconds kWait{20};

  ReplayTest() : second_(NewBroker()) {
    WaitForListeners(2);
    history_.brokers = 2;
    history_.queues = 2;
    history_.returned = 0;
  }

  Input& Record(Input::Kind kind, int broker) {
    Input& input = history_.inputs.emplace_back();
    input.kind = kind;
    input.broker = broker;
    const auto passed = std::chrono::steady_clock::now() - began_;
    input.at = std::chrono::duration_cast<simulation::Span>(passed);
    return input;
  }

  broker::Broker& BrokerOf(int number) { return number == 0 ? broker() : *second_; }

  void EnqueueAt(int number, int queue, int count) {
    Input& input = Record(Input::Kind::kEnqueue, number);
    input.what = queue;
    input.count = count;
    const std::vector<model::NewTask> tasks(static_cast<size_t>(count), Payload("x"));
    Later<std::vector<broker::EnqueueResult>> answer;
    BrokerOf(number).Enqueue({kQueues[queue], tasks, ""}, answer.done());
    ASSERT_THAT(answer.Get(), IsOk());
  }

  void LeaseAt(int number, int queue, Later<broker::LeaseAnswer>& answer) {
    Input& input = Record(Input::Kind::kCall, number);
    input.wanted = {queue, 1 - queue};
    input.span = kWait;
    input.number = ++calls_;
    broker::LeaseCall call = LeaseOf("w", 1, absl::FromChrono(kWait));
    call.queues = {{kQueues[queue], 1, ""}, {kQueues[1 - queue], 1, ""}};
    call.strict_order = true;
    pending_.push_back(BrokerOf(number).Lease(std::move(call), answer.done()));
  }

  std::unique_ptr<broker::LocalBroker> second_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  simulation::History history_;
  std::vector<std::shared_ptr<broker::PendingLease>> pending_;
  int calls_ = 0;
};

TEST_F(ReplayTest, ABusyRunIsRecordedAndReplays) {
  constexpr int kRounds = 15;
  constexpr int kCalls = 4;
  for (const int queue : {0, 1}) EnqueueAt(0, queue, kCalls);
  int64_t leased = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Later<broker::LeaseAnswer>> answers(kCalls);
    for (int i = 0; i < kCalls; ++i) {
      LeaseAt(i % 2, (i + round) / 2 % 2, answers[static_cast<size_t>(i)]);
    }
    EnqueueAt(round % 2, round / 2 % 2, kCalls);
    for (auto& answer : answers) {
      const auto lease = answer.Get();
      ASSERT_THAT(lease, IsOk());
      ASSERT_EQ(lease->tasks.size(), 1u);
      ++leased;
      ASSERT_THAT(AckTokens(broker(), {lease->tasks.front().token}), IsOk());
    }
  }
  const std::string recorded = Print(history_);
  const std::optional<simulation::History> again = simulation::Parse(recorded);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(simulation::Play(*again).failure, "") << recorded;
  simulation::World world(*again);
  EXPECT_EQ(world.Play(), "");
  EXPECT_EQ(world.handed_out(), leased) << recorded;
}

}  // namespace
}  // namespace skiplane::testing
