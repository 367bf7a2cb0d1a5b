#include "server/upkeep/recovery.h"

#include "gmock/gmock.h"
#include "server/model/notification.h"
#include "server/pg/connections/listener.h"
#include "server/store/peers.h"
#include "server/store/queues.h"
#include "tests/pg/connections/heard.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class RecoveryTest : public testing::UpkeepHarness {
 protected:
  Recovery recovery_{absl::Seconds(60), &metrics_};
};

TEST_F(RecoveryTest, EveryBrokerHearsWhichTasksAreFree) {
  testing::Heard<std::string> notifications;
  testing::Heard<bool> states;
  pg::Listener listener(
      Options(), store::kNotificationChannel,
      [&](absl::string_view payload) { notifications.Add(std::string(payload)); },
      [&](bool listening) { states.Add(listening); });
  ASSERT_TRUE(states.WaitFor(true));
  Put(3, testing::TaskWithPriority(-5));
  Take(3, testing::kWorker);
  Required(recovery_.Recover(*session_, {testing::kWorker}));
  ASSERT_TRUE(notifications.WaitForCount(1));
  const auto notification = model::ParseNotification(notifications.values().front());
  ASSERT_TRUE(notification.has_value());
  EXPECT_EQ(notification->kind, model::NotificationKind::kTasks);
  EXPECT_EQ(notification->origin, "");
  EXPECT_EQ(notification->lane, lane_);
  EXPECT_EQ(notification->priority, -5);
  EXPECT_EQ(notification->count, 3);
  EXPECT_EQ(absl::ToUnixMicros(notification->schedule_time),
            Number("SELECT (date_part('epoch', min(schedule_time)) * 1e6)::int8 "
                   "FROM skiplane.task"));
}

TEST_F(RecoveryTest, HundredsOfLedgerRowsAreTakenInOneCall) {
  Put(180);
  for (int i = 0; i < 180; ++i) TakeOne(testing::kWorker);
  const Recovered recovered = Required(recovery_.Recover(*session_, {testing::kWorker}));
  EXPECT_EQ(recovered.freed, 180);
  EXPECT_TRUE(recovered.is_complete);
  EXPECT_EQ(LedgerRows(), 0);
}

TEST_F(RecoveryTest, WhatOneCallDoesNotGetToIsLeftForTheNext) {
  Recovery hasty(absl::ZeroDuration(), &metrics_);
  Put(60);
  for (int i = 0; i < 60; ++i) TakeOne(testing::kWorker);
  const Recovered first = Required(hasty.Recover(*session_, {testing::kWorker}));
  EXPECT_FALSE(first.is_complete);
  EXPECT_EQ(first.freed, 50);
  EXPECT_EQ(Required(hasty.Recover(*session_, {testing::kWorker})).freed, 10);
  EXPECT_EQ(Tasks("state = 1"), 60);
}

TEST_F(RecoveryTest, TheHistoryOfAQueueIsKeptAsTheQueueSays) {
  model::QueueSettings settings;
  settings.history = model::HistoryPolicy::kNone;
  Required(store::CreateQueue(*session_, "silent", settings, 1));
  lane_ = Required(store::GetQueue(*session_, "silent")).lanes.front();
  PutOne();
  TakeOne(testing::kWorker);
  EXPECT_EQ(Required(recovery_.Recover(*session_, {testing::kWorker})).freed, 1);
  EXPECT_EQ(LostAttempts(), 0);
}

TEST_F(RecoveryTest, AStatementThatTakesTooLongIsTriedWithLess) {
  Put(3);
  for (int i = 0; i < 3; ++i) TakeOne(testing::kWorker);
  pg::ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(3);
  const auto session = Required(pg::Session::Open(options, nullptr));
  // Two tasks in one statement are beyond its time, one is not.
  Sql("CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF (SELECT count(*) FROM changed) > 1 THEN PERFORM pg_sleep(60); END IF; RETURN NULL; "
      "END $$; "
      "CREATE TRIGGER stall AFTER UPDATE ON skiplane.task REFERENCING NEW TABLE AS changed "
      "FOR EACH STATEMENT EXECUTE FUNCTION stall()");
  Recovery hasty(absl::ZeroDuration(), &metrics_);
  EXPECT_EQ(Required(hasty.Recover(*session, {testing::kWorker})).freed, 1);
}

}  // namespace
}  // namespace skiplane::upkeep
