// Schedules are looked at in several turns at the pool, and answered as if in one.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ScheduleTurnsTest = BrokerHarness;

std::vector<model::NewTask> Periodic(int tasks) {
  std::vector<model::NewTask> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(Payload("x"));
    all.back().cron = absl::StrCat(i % 60, " ", i / 60, " * * *");
  }
  return all;
}

TEST_F(ScheduleTurnsTest, OfManySchedulesTheLastOneIsCheckedToo) {
  EXPECT_EQ(Enqueue(Periodic(130)).size(), 130u);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE cron IS NOT NULL"), 130);
  std::vector<model::NewTask> tasks = Periodic(240);
  tasks.back().cron = "61 * * * *";
  Later<std::vector<broker::EnqueueResult>> later;
  broker().Enqueue({"q", std::move(tasks), "", "queue", false, "", ""}, later.done());
  EXPECT_THAT(later.Get().status(), FieldIs("tasks[239].cron"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 130);
}

TEST_F(ScheduleTurnsTest, APreviewOfManyTimesHasNoGap) {
  broker::PreviewCall call;
  call.cron = "30 4 * * *";
  call.start = absl::UnixEpoch();
  call.count = 120;
  Later<std::vector<absl::Time>> later;
  broker().AsOperator().PreviewSchedule(std::move(call), later.done());
  const auto times = later.Get();
  ASSERT_THAT(times, IsOk());
  ASSERT_EQ(times->size(), 120u);
  for (size_t i = 0; i < times->size(); ++i) {
    EXPECT_EQ((*times)[i], absl::UnixEpoch() + absl::Hours(24 * i) + absl::Minutes(270));
  }
}

}  // namespace
}  // namespace skiplane::testing
