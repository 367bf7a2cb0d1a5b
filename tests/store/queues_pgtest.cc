#include "server/store/queues.h"

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::ReasonIs;
using testing::Required;

class QueuesTest : public testing::StoreHarness {
 protected:
  QueuesTest() { Sql("TRUNCATE skiplane.queue RESTART IDENTITY CASCADE"); }
  void TearDown() override {}  // no task, no counts

  absl::StatusOr<bool> Create(const std::string& name, int lanes = 1) {
    return CreateQueue(*session_, name, settings_, lanes);
  }

  std::vector<std::string> Names(const std::string& after, int limit) {
    std::vector<std::string> names;
    for (const model::Queue& queue : Required(ListQueues(*session_, after, limit))) {
      names.push_back(queue.name);
    }
    return names;
  }

  model::QueueSettings settings_;
};

TEST_F(QueuesTest, ThereAreOnlySoMany) {
  EXPECT_THAT(CreateQueue(*session_, "a", settings_, 1, 2), IsOkAndHolds(true));
  EXPECT_THAT(CreateQueue(*session_, "b", settings_, 1, 2), IsOkAndHolds(true));
  EXPECT_THAT(CreateQueue(*session_, "c", settings_, 1, 2).status(),
              ReasonIs("TOO_MANY_QUEUES"));
  EXPECT_THAT(CreateQueue(*session_, "b", settings_, 1, 2), IsOkAndHolds(false));
  EXPECT_EQ(Names("", 10), (std::vector<std::string>{"a", "b"}));
}

TEST_F(QueuesTest, AQueueIsFoundByEachOfItsLanes) {
  EXPECT_THAT(Create("a", 2), IsOkAndHolds(true));
  EXPECT_THAT(Create("b"), IsOkAndHolds(true));
  EXPECT_EQ(Required(QueueOfLane(*session_, 2))->name, "a");
  EXPECT_EQ(Required(QueueOfLane(*session_, 3))->name, "b");
  EXPECT_FALSE(Required(QueueOfLane(*session_, 4)).has_value());
}

TEST_F(QueuesTest, AQueueComesBackAsItWasMade) {
  settings_.history = model::HistoryPolicy::kFailures;
  settings_.lease_duration = absl::Seconds(77);
  settings_.retry.kind = model::RetryKind::kTable;
  settings_.retry.delays = {absl::Seconds(1), absl::Minutes(2)};
  EXPECT_THAT(Create("mail", 3), IsOkAndHolds(true));
  const model::Queue queue = Required(GetQueue(*session_, "mail"));
  EXPECT_EQ(queue.name, "mail");
  EXPECT_EQ(queue.settings, settings_);
  EXPECT_THAT(queue.lanes, ElementsAre(1, 2, 3));
  EXPECT_EQ(queue.pause, model::PauseMode::kNone);
  EXPECT_EQ(queue.version, 1);
  EXPECT_GT(queue.create_time, absl::UnixEpoch());
  EXPECT_EQ(queue.create_time, queue.update_time);
}

TEST_F(QueuesTest, MakingAnExistingOneLeavesItAsItIs) {
  EXPECT_THAT(Create("mail", 2), IsOkAndHolds(true));
  settings_.lease_duration = absl::Seconds(77);
  EXPECT_THAT(Create("mail", 5), IsOkAndHolds(false));
  const model::Queue queue = Required(GetQueue(*session_, "mail"));
  EXPECT_EQ(queue.settings, model::QueueSettings());
  EXPECT_EQ(queue.lanes.size(), 2u);
}

TEST_F(QueuesTest, AnUnknownOneIsNotFound) {
  EXPECT_THAT(GetQueue(*session_, "mail"), ReasonIs("QUEUE_NOT_FOUND"));
  EXPECT_THAT(UpdateQueue(*session_, "mail", 1, settings_), IsOkAndHolds(false));
  EXPECT_THAT(PauseQueue(*session_, "mail", model::PauseMode::kBoth, ""), IsOkAndHolds(false));
}

TEST_F(QueuesTest, AreListedByNameInPages) {
  for (const char* const name : {"c", "a", "d", "b"}) Required(Create(name));
  EXPECT_THAT(Names("", 10), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Names("", 2), ElementsAre("a", "b"));
  EXPECT_THAT(Names("b", 2), ElementsAre("c", "d"));
  EXPECT_THAT(Names("d", 2), IsEmpty());
}

TEST_F(QueuesTest, PagesOfMixedNamesMissNothing) {
  for (const char* const name : {"A", "a", "a-b", "a.b", "a_b", "aa", "B", "b", "0"}) {
    Required(Create(name));
  }
  std::vector<std::string> all;
  for (std::vector<std::string> page = Names("", 2); !page.empty(); page = Names(all.back(), 2)) {
    all.insert(all.end(), page.begin(), page.end());
  }
  EXPECT_EQ(all, Names("", 100));
  EXPECT_EQ(all.size(), 9u);
}

TEST_F(QueuesTest, AnUpdateNeedsTheVersionThatWasRead) {
  Required(Create("mail"));
  settings_.lease_duration = absl::Seconds(77);
  EXPECT_THAT(UpdateQueue(*session_, "mail", 1, settings_), IsOkAndHolds(true));
  EXPECT_THAT(UpdateQueue(*session_, "mail", 1, model::QueueSettings()), IsOkAndHolds(false));
  const model::Queue queue = Required(GetQueue(*session_, "mail"));
  EXPECT_EQ(queue.settings, settings_);
  EXPECT_EQ(queue.version, 2);
  EXPECT_GT(queue.update_time, queue.create_time);
}

TEST_F(QueuesTest, APauseIsAChangeToo) {
  Required(Create("mail"));
  EXPECT_THAT(PauseQueue(*session_, "mail", model::PauseMode::kLease, "printer's on fire"),
              IsOkAndHolds(true));
  model::Queue queue = Required(GetQueue(*session_, "mail"));
  EXPECT_TRUE(queue.LeasesPaused());
  EXPECT_FALSE(queue.EnqueuesPaused());
  EXPECT_EQ(queue.pause_reason, "printer's on fire");
  EXPECT_EQ(queue.version, 2);
  EXPECT_THAT(UpdateQueue(*session_, "mail", 1, settings_), IsOkAndHolds(false));
  EXPECT_THAT(PauseQueue(*session_, "mail", model::PauseMode::kNone, ""), IsOkAndHolds(true));
  queue = Required(GetQueue(*session_, "mail"));
  EXPECT_EQ(queue.pause, model::PauseMode::kNone);
  EXPECT_EQ(queue.pause_reason, "");
}

}  // namespace
}  // namespace skiplane::store
