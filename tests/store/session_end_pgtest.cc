// Sessions that their workers end, and calls that race with it.
#include <thread>

#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "server/store/reclaim.h"
#include "server/store/sessions.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IsOkAndHolds;
using testing::kWorker;
using testing::Required;
using testing::UuidOf;

constexpr absl::Duration kHour = absl::Hours(1);

class SessionEndTest : public testing::StoreHarness {
 protected:
  LivingSession TouchOne(uint8_t new_id, absl::Duration age = absl::ZeroDuration()) {
    const Touch touch{"w", "name", UuidOf(new_id), kHour, absl::ZeroDuration(), age};
    return Required(TouchSessions(*session_, {touch})).front();
  }
  std::vector<pg::Uuid> End(absl::Duration age = absl::ZeroDuration()) {
    return Required(EndSessions(*session_, {{"w", age}}));
  }
  std::vector<LivingSession> Heartbeat() {
    return Required(RenewSessions(*session_, {{"w", kHour, ""}}));
  }
  GoneSessions Due() {
    Sql("UPDATE skiplane.worker_session SET check_time = now() WHERE state = 3");
    return Required(FindGoneSessions(*session_));
  }
};

TEST_F(SessionEndTest, ItDoesNotLiveAnyMoreAndTheNextCallMakesAnother) {
  TouchOne(7);
  EXPECT_THAT(End(), ElementsAre(UuidOf(7)));
  EXPECT_THAT(Heartbeat(), IsEmpty());
  EXPECT_THAT(CountWorkers(*session_), IsOkAndHolds(0));
  const LivingSession next = TouchOne(8);
  EXPECT_EQ(next.id, UuidOf(8));
  EXPECT_FALSE(next.has_ended);
  EXPECT_THAT(Heartbeat(), SizeIs(1));
}

TEST_F(SessionEndTest, ItIsAskedForAgainUntilItIsForgotten) {
  TouchOne(7);
  End();
  EXPECT_THAT(End(), ::testing::Contains(UuidOf(7))) << "a repeat goes on with it";
  Sql("UPDATE skiplane.worker_session SET check_time = check_time + interval '1 hour'");
  EXPECT_THAT(Required(FindGoneSessions(*session_)).ended, IsEmpty()) << "not before it is time";
  EXPECT_THAT(Due().ended, ::testing::Contains(UuidOf(7)));
  EXPECT_THAT(Required(UnknownSessions(*session_, {UuidOf(7)})).ended, ElementsAre(UuidOf(7)));
}

TEST_F(SessionEndTest, ItIsNotForgottenWhileABrokerMayBelieveThatItLives) {
  TouchOne(7);
  End();
  ASSERT_THAT(Due().ended, ElementsAre(UuidOf(7)));
  EXPECT_THAT(ForgetSessions(*session_, {UuidOf(7)}), IsOkAndHolds(0));
  EXPECT_THAT(Required(FindGoneSessions(*session_)).ended, IsEmpty()) << "it is not asked for soon";
  EXPECT_EQ(Sql("SELECT check_time > expire_time + interval '1 minute' "
                "FROM skiplane.worker_session"),
            "t");
  Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 hour', "
      "end_time = now() - interval '1 hour'");
  ASSERT_THAT(Due().ended, ElementsAre(UuidOf(7)));
  EXPECT_THAT(ForgetSessions(*session_, {UuidOf(7)}), IsOkAndHolds(1));
}

TEST_F(SessionEndTest, AnEndThatComesLateLeavesTheSessionOfALaterCall) {
  TouchOne(7);
  EXPECT_THAT(End(kHour), IsEmpty());
  EXPECT_THAT(Heartbeat(), SizeIs(1));
}

TEST_F(SessionEndTest, ACallFromBeforeItMakesNoSessionThatLives) {
  End();
  const LivingSession late = TouchOne(8, absl::Seconds(10));
  EXPECT_EQ(late.id, UuidOf(8));
  EXPECT_TRUE(late.has_ended);
  EXPECT_THAT(Heartbeat(), IsEmpty());
  EXPECT_THAT(Due().ended, ::testing::Contains(UuidOf(8))) << "upkeep hands back what it holds";
}

TEST_F(SessionEndTest, ACallThatMeetsItInTheMiddleMakesNoSessionThatLives) {
  for (const bool has_session : {false, true}) {
    if (has_session) TouchOne(7);
    const auto ending = Open();
    Required(ending->RunText("BEGIN"));
    const auto claim = pg::Params().TextArray({"w"}).UuidArray({UuidOf(9)});
    Required(ending->Run(sql::kSessionClaim, claim));
    Required(ending->Run(sql::kSessionEnd,
                         pg::Params().TextArray({"w"}).UuidArray({UuidOf(9)}).Int8Array({0})));
    LivingSession late;
    std::thread lease([&] { late = TouchOne(8, absl::Minutes(1)); });
    WaitUntilBlocked(*session_);
    Required(ending->RunText("COMMIT"));
    lease.join();
    EXPECT_EQ(late.id, UuidOf(8));
    EXPECT_TRUE(late.has_ended);
    Sql("DELETE FROM skiplane.worker_session");
  }
}

TEST_F(SessionEndTest, AnEndThatMeetsACallInTheMiddleEndsItsSession) {
  const auto leasing = Open();
  Required(leasing->RunText("BEGIN"));
  const Touch touch{"w", "", UuidOf(8), kHour, absl::ZeroDuration(), absl::Minutes(1)};
  EXPECT_FALSE(Required(TouchSessions(*leasing, {touch})).front().has_ended);
  std::vector<pg::Uuid> ended;
  std::thread end([&] { ended = End(); });
  WaitUntilBlocked(*session_);
  Required(leasing->RunText("COMMIT"));
  end.join();
  EXPECT_THAT(ended, ElementsAre(UuidOf(8)));
}

TEST_F(SessionEndTest, WhatItHoldsIsFreeAgainInItsPlaceAndUncharged) {
  const std::vector<int64_t> ids = Put(3, {}, 1);
  const auto tokens = testing::TokensOf(Take(2));
  const Reclaimed freed =
      Required(Reclaim(*session_, lane_, {kWorker}, {}, 100, Action::kRelease));
  EXPECT_EQ(freed.freed, 2);
  EXPECT_EQ(freed.failed, 0);
  EXPECT_GT(freed.now, absl::UnixEpoch());
  ASSERT_THAT(freed.unleased, SizeIs(1));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 1 AND attempt = 0 AND "
                   "error_type IS NULL"),
            3);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 0);
  EXPECT_EQ(ClassifyOne(tokens[0]).settled_as, Action::kRelease);
  EXPECT_THAT(testing::IdsOf(Take(3)), ElementsAre(ids[0], ids[1], ids[2]));
}

}  // namespace
}  // namespace skiplane::store
