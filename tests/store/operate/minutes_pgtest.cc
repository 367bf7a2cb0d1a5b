#include "gmock/gmock.h"
#include "server/store/reports.h"
#include "server/store/retention.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOk;
using testing::Required;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MinutesTest : public testing::StoreHarness {
 protected:
  void SetUp() override {
    testing::StoreHarness::SetUp();
    // So that no step begins within what a test writes.
    minute_ = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()) / 600 * 600) -
              absl::Minutes(20);
  }

  model::MinuteEntry EntryOf(int minute, int16_t stage, absl::Duration run) const {
    model::MinuteEntry entry;
    entry.lane_stage = {lane_, stage};
    entry.minute = minute_ + minute * absl::Minutes(1);
    entry.times.run.Add(run);
    entry.times.wait.Add(absl::Milliseconds(5));
    entry.times.wait.Add(absl::Milliseconds(5));
    return entry;
  }

  MinuteRange RangeOf(absl::Duration step) const {
    MinuteRange range;
    range.start = minute_;
    range.end = absl::InfiniteFuture();
    range.step = step;
    return range;
  }

  absl::Time minute_;
};

TEST_F(MinutesTest, WhatBrokersWroteAddsUp) {
  EXPECT_THAT(AddMinutes(*session_, {EntryOf(0, 0, absl::Seconds(1))}, 1), IsOk());
  EXPECT_THAT(AddMinutes(*session_, {EntryOf(0, 0, absl::Seconds(4))}, 2), IsOk());
  const auto page = Required(ReadMinutes(*session_, {lane_}, RangeOf(absl::Minutes(1)), 10));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].start_time, minute_);
  EXPECT_EQ(page.items[0].times.run.count(), 2);
  EXPECT_EQ(page.items[0].times.wait.count(), 4);
  EXPECT_GT(page.items[0].times.run.Percentile(1), absl::Milliseconds(3600));
  EXPECT_LT(page.items[0].times.run.Percentile(0.5), absl::Milliseconds(1100));
}

TEST_F(MinutesTest, ARepeatOfWhatWasWrittenCountsOnce) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(AddMinutes(*session_, {EntryOf(0, 0, absl::Seconds(1))}, 7), IsOk());
  }
  EXPECT_EQ(Required(ReadMinutesTotal(*session_, {lane_}, RangeOf(absl::Minutes(1))))
                .times.run.count(), 1);
}

TEST_F(MinutesTest, StepsAndStagesArePagedInTheirOrder) {
  std::vector<model::MinuteEntry> entries;
  for (int minute = 0; minute < 6; ++minute) {
    for (int16_t stage = 0; stage < 2; ++stage) {
      entries.push_back(EntryOf(minute, stage, absl::Seconds(1)));
    }
  }
  EXPECT_THAT(AddMinutes(*session_, entries, 1), IsOk());
  MinuteRange range = RangeOf(absl::Minutes(2));
  std::vector<std::string> seen;
  for (bool has_more = true; has_more;) {
    const auto page = Required(ReadMinutes(*session_, {lane_}, range, 2));
    has_more = page.has_more;
    for (const model::MinuteStatistics& entry : page.items) {
      seen.push_back(absl::StrCat((entry.start_time - minute_) / absl::Minutes(1), "/",
                                  entry.stage, ":", entry.times.run.count()));
      range.after_step = entry.start_time;
      range.after_stage = entry.stage;
    }
    ASSERT_LE(seen.size(), 6U);
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("0/0:2", "0/1:2", "2/0:2", "2/1:2", "4/0:2", "4/1:2"));
  MinuteRange one = RangeOf(absl::Minutes(10));
  one.stage = 1;
  const auto page = Required(ReadMinutes(*session_, {lane_}, one, 10));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].times.run.count(), 6);
  EXPECT_EQ(Required(ReadMinutesTotal(*session_, {lane_}, RangeOf(absl::Minutes(1))))
                .times.wait.count(), 24);
}

TEST_F(MinutesTest, TheyGoAfterTwoDays) {
  minute_ -= absl::Hours(49);
  EXPECT_THAT(AddMinutes(*session_, {EntryOf(0, 0, absl::Seconds(1))}, 1), IsOk());
  EXPECT_THAT(ExpireMinutes(*session_, lane_), IsOk());
  EXPECT_THAT(Required(ReadMinutes(*session_, {lane_}, RangeOf(absl::Minutes(1)), 10)).items,
              IsEmpty());
  EXPECT_EQ(Required(ReadMinutesTotal(*session_, {lane_}, RangeOf(absl::Minutes(1))))
                .times.run.count(), 0);
}

}  // namespace
}  // namespace skiplane::store
