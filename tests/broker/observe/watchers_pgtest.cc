// Those who watch queues: together they cost the database what one does.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "server/broker/observe/watchers.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using broker::QueueChanges;
using ::testing::ElementsAre;

// What a test watches with: it may see all queues but those that are hidden.
class Watching {
 public:
  explicit Watching(broker::Broker& broker, std::vector<std::string> queues = {},
                    std::string party = "") {
    broker::WatchCall call;
    call.party = std::move(party);
    call.queues = std::move(queues);
    call.permit_now = [this]() -> absl::StatusOr<std::shared_ptr<const broker::Permit>> {
      if (!refusal.ok()) return refusal;
      return permit;
    };
    watcher_ = broker.AsOperator().Watch(std::move(call));
  }
  ~Watching() { watcher_->End(); }

  Later<QueueChanges> Begin() {
    Later<QueueChanges> later;
    watcher_->Next(later.done());
    return later;
  }
  absl::StatusOr<QueueChanges> Next() { return Begin().Get(); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto changes = Next();
    EXPECT_TRUE(changes.ok()) << changes.status();
    if (!changes.ok()) return names;
    for (const auto& summary : changes->changed) names.push_back(summary->counted.queue.name);
    return names;
  }
  void End() { watcher_->End(); }

  // To be set while none of the broker's reads can end.
  absl::Status refusal;
  std::shared_ptr<const broker::Permit> permit = std::make_shared<const broker::Permit>();

 private:
  std::shared_ptr<broker::QueueWatcher> watcher_;
};

class WatchersTest : public BrokerHarness {
 protected:
  int64_t Reads() const { return RunsOf("counter_list"); }
  void Make(const std::string& queue) {
    broker::CreateQueueCall call;
    call.name = queue;
    call.origin = Origin();
    Later<model::Queue> later;
    broker().CreateQueue(std::move(call), later.done());
    ASSERT_THAT(later.Get(), IsOk());
  }
};

TEST_F(WatchersTest, FirstAllQueuesComeThenThoseThatChange) {
  Make("a"), Make("b");
  Watching watching(broker());
  EXPECT_THAT(watching.Names(), ElementsAre("a", "b"));
  Make("c");
  EXPECT_THAT(watching.Names(), ElementsAre("c"));
}

// One principal could have thousands, which all look through what changed.
TEST_F(WatchersTest, APartyHasAsManyAsOneMay) {
  Make("a");
  std::vector<std::unique_ptr<Watching>> all;
  for (int i = 0; i < broker::kWatchesOfPartyMax; ++i) {
    all.push_back(std::make_unique<Watching>(broker()));
  }
  EXPECT_THAT(Watching(broker()).Next(), ReasonIs("TOO_MANY_CALLS"));
  EXPECT_THAT(Watching(broker(), {}, "other").Names(), ElementsAre("a"));
  all.pop_back();
  EXPECT_THAT(Watching(broker()).Names(), ElementsAre("a"));
  for (auto& one : all) EXPECT_THAT(one->Names(), ElementsAre("a"));
}

TEST_F(WatchersTest, ManyCostAsMuchAsOne) {
  Make("a");
  std::vector<std::unique_ptr<Watching>> all;
  for (int i = 0; i < 50; ++i) all.push_back(std::make_unique<Watching>(broker()));
  for (auto& one : all) EXPECT_THAT(one->Names(), ElementsAre("a"));
  const int64_t before = Reads();
  std::vector<Later<QueueChanges>> waiting;
  for (auto& one : all) waiting.push_back(one->Begin());
  Make("b");
  for (auto& one : waiting) EXPECT_EQ(one.Get()->changed.size(), 1U);
  EXPECT_LT(Reads() - before, 10);
}

TEST_F(WatchersTest, WhoReadsSlowlyIsToldOfEachQueueOnceAsItIsThen) {
  Make("a");
  Watching quick(broker()), slow(broker());
  EXPECT_THAT(quick.Names(), ElementsAre("a"));
  EXPECT_THAT(slow.Names(), ElementsAre("a"));
  for (const char* const queue : {"b", "c", "d"}) {
    Make(queue);
    EXPECT_THAT(quick.Names(), ElementsAre(queue));
  }
  EXPECT_THAT(slow.Names(), ElementsAre("b", "c", "d"));
}

TEST_F(WatchersTest, AQueueThatIsNotThereIsRefused) {
  Make("a");
  Watching watching(broker(), {"a", "never"});
  const absl::Status status = watching.Next().status();
  EXPECT_EQ(base::ReasonOf(status), "QUEUE_NOT_FOUND") << status;
}

TEST_F(WatchersTest, AQueueThatWasMadeAMomentAgoIsFound) {
  Watching first(broker());
  EXPECT_THAT(first.Names(), ElementsAre());
  Make("new");
  Watching watching(broker(), {"new"});
  EXPECT_THAT(watching.Names(), ElementsAre("new"));
}

TEST_F(WatchersTest, WhoMayWatchNoMoreIsToldWhy) {
  Watching watching(broker());
  EXPECT_THAT(watching.Names(), ElementsAre());
  watching.refusal = absl::PermissionDeniedError("no more");
  EXPECT_EQ(watching.Next().status().message(), "no more");
}

TEST_F(WatchersTest, OneThatEndsIsAnswered) {
  Watching watching(broker());
  EXPECT_THAT(watching.Names(), ElementsAre());
  auto waiting = watching.Begin();
  watching.End();
  EXPECT_TRUE(absl::IsCancelled(waiting.Get().status()));
  EXPECT_TRUE(absl::IsCancelled(watching.Next().status()));
}

TEST_F(WatchersTest, ABrokerThatStopsAnswersThoseWhoWatch) {
  Watching watching(broker());
  EXPECT_THAT(watching.Names(), ElementsAre());
  auto waiting = watching.Begin();
  broker_->Stop();
  EXPECT_EQ(base::ReasonOf(waiting.Get().status()), "BROKER_DRAINING");
}

}  // namespace
}  // namespace skiplane::testing
