// Who does not hold a task can not end its attempt: not with an old token, not with a foreign
// session, not in a race.
#include <thread>

#include "absl/functional/function_ref.h"
#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;

constexpr Action kActions[] = {Action::kAck, Action::kRetry, Action::kFail, Action::kRelease};

class FenceTest : public testing::StoreHarness {
 protected:
  std::string Everything() const {
    return Sql("SELECT concat_ws(' | ', (SELECT string_agg(t::text, ',') FROM skiplane.task t), "
               "(SELECT count(*) FROM skiplane.history), (SELECT count(*) FROM skiplane.settled), "
               "(SELECT count(*) FROM skiplane.task_failed), "
               "(SELECT count(*) FROM skiplane.counter_delta))");
  }

  void ExpectRefused(const model::LeaseToken& token) {
    const std::string before = Everything();
    EXPECT_THAT(AckByLocation(*session_, Batch({token})), IsOkAndHolds(IsEmpty()));
    for (const Action action : kActions) EXPECT_EQ(Settle({token}, action), 0u);
    EXPECT_EQ(Everything(), before);
  }

  // Runs `verb` on a session of its own while the transaction in which another ran `first` is open.
  template <typename Verb>
  auto Race(absl::FunctionRef<void(pg::Session&)> first, Verb verb) {
    const auto holder = Open();
    const auto racer = Open();
    Required(holder->RunText("BEGIN"));
    first(*holder);
    decltype(verb(*racer)) result;
    std::thread thread([&] { result = verb(*racer); });
    WaitUntilBlocked(*racer);
    Required(holder->RunText("COMMIT"));
    thread.join();
    return result;
  }
};

TEST_F(FenceTest, AForeignSessionIsRefused) {
  PutOne();
  model::LeaseToken token = TakeOne();
  token.session = kOtherWorker;
  ExpectRefused(token);
}

TEST_F(FenceTest, AWrongLeaseNumberIsRefused) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  for (const int64_t step : {-1, 1}) {
    model::LeaseToken wrong = token;
    wrong.lease_number += step;
    ExpectRefused(wrong);
  }
  EXPECT_EQ(Settle({token}, Action::kAck), 1u);
}

TEST_F(FenceTest, AnOldTokenIsRefusedAfterTheTaskWentToAnother) {
  PutOne();
  const model::LeaseToken old = TakeOne(kWorker);
  Settle({old}, Action::kRetry);
  ExpectRefused(old);
  const model::LeaseToken held = TakeOne(kOtherWorker);
  ExpectRefused(old);
  EXPECT_EQ(Settle({held}, Action::kAck), 1u);
  ExpectRefused(old);
}

TEST_F(FenceTest, AnOldTokenOfTheSameWorkerIsRefused) {
  PutOne();
  const model::LeaseToken old = TakeOne();
  Settle({old}, Action::kRelease);
  const model::LeaseToken held = TakeOne();
  ExpectRefused(old);
  EXPECT_THAT(AckByLocation(*session_, Batch({held})), IsOkAndHolds(ElementsAre(0)));
}

TEST_F(FenceTest, ALocationThatAnotherTaskTookIsRefused) {
  Put(2);
  const auto tokens = testing::TokensOf(Take(2));
  model::LeaseToken mixed = tokens[0];
  mixed.block = tokens[1].block;
  mixed.offset = tokens[1].offset;
  EXPECT_THAT(AckByLocation(*session_, Batch({mixed})), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 2);
}

TEST_F(FenceTest, AnotherLaneIsRefused) {
  PutOne();
  SettleBatch batch = Batch({TakeOne()});
  batch.lane = lane_ + 1;
  EXPECT_THAT(AckByLocation(*session_, batch), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(store::Settle(*session_, batch), IsOkAndHolds(IsEmpty()));
}

TEST_F(FenceTest, AnAckThatRacesAMoveOfItsRowEndsRight) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const auto acked = Race(
      [](pg::Session& session) {
        Required(session.RunText("UPDATE skiplane.task SET priority = 9"));
      },
      [&](pg::Session& session) { return AckByLocation(session, Batch({token})); });
  ASSERT_THAT(acked, IsOk());
  const size_t later = Settle({token}, Action::kAck);
  EXPECT_EQ(acked->size() + later, 1u) << "by location or by id, but once";
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
}

TEST_F(FenceTest, ASettleByIdThatRacesAMoveOfItsRowSettlesItOrLeavesItHeld) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const auto settled = Race(
      [](pg::Session& session) {
        Required(session.RunText("UPDATE skiplane.task SET priority = 9"));
      },
      [&](pg::Session& session) { return store::Settle(session, Batch({token}, Action::kRetry)); });
  ASSERT_THAT(settled, IsOk());
  EXPECT_EQ(ClassifyOne(token).is_held, settled->empty());
  EXPECT_EQ(Settle({token}, Action::kRetry), settled->empty() ? 1u : 0u);
}

// Whatever version of the row the ack finds after its wait.
TEST_F(FenceTest, APauseThatMeetsTheAckOfItsRunIsKept) {
  PutOne();
  Sql("UPDATE skiplane.task SET period = 3600000000, planned_time = schedule_time");
  const model::LeaseToken token = TakeOne();
  const auto settled = Race(
      [](pg::Session& session) {
        Required(session.RunText("UPDATE skiplane.task SET paused = true"));
      },
      [&](pg::Session& session) { return store::Settle(session, Batch({token})); });
  ASSERT_THAT(settled, IsOk());
  EXPECT_EQ(Settle({token}, Action::kAck), settled->empty() ? 1u : 0u) << "once";
  EXPECT_EQ(Sql("SELECT schedule_time FROM skiplane.task WHERE paused"), "infinity");
}

TEST_F(FenceTest, AnAckThatRacesTheReclaimOfItsTaskIsRefused) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const auto acked = Race(
      [&](pg::Session& session) {
        const auto history = model::HistoryPolicy::kAll;
        const auto settings = testing::SettingsWith(history);
        EXPECT_EQ(Required(Reclaim(session, lane_, {kWorker}, settings, 10)).freed, 1);
      },
      [&](pg::Session& session) { return AckByLocation(session, Batch({token})); });
  EXPECT_THAT(acked, IsOkAndHolds(IsEmpty()));
  ExpectRefused(token);
  EXPECT_EQ(TakeOne(kOtherWorker).attempt, 2);
}

TEST_F(FenceTest, AReclaimThatRacesTheAckOfItsTaskFindsNothing) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const auto reclaimed = Race(
      [&](pg::Session& session) {
        EXPECT_THAT(AckByLocation(session, Batch({token})), IsOkAndHolds(ElementsAre(0)));
      },
      [&](pg::Session& session) {
        return Reclaim(session, lane_, {kWorker}, {}, 10);
      });
  ASSERT_THAT(reclaimed, IsOk());
  EXPECT_EQ(reclaimed->freed + reclaimed->failed, 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

TEST_F(FenceTest, TwoAcksOfOneLeaseSettleItOnce) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const auto second = Race(
      [&](pg::Session& session) {
        EXPECT_THAT(AckByLocation(session, Batch({token})), IsOkAndHolds(ElementsAre(0)));
      },
      [&](pg::Session& session) { return store::Settle(session, Batch({token})); });
  EXPECT_THAT(second, IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
}

}  // namespace
}  // namespace skiplane::store
