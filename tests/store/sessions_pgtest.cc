#include "server/store/sessions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;
using testing::UuidOf;

constexpr absl::Duration kShort = absl::Minutes(1);
constexpr absl::Duration kLong = absl::Hours(1);

class SessionsTest : public testing::StoreHarness {
 protected:
  LivingSession TouchOne(const std::string& worker, uint8_t new_id, absl::Duration duration,
                         absl::Duration ahead = absl::ZeroDuration()) {
    return Required(TouchSessions(*session_, {{worker, "name of " + worker, UuidOf(new_id),
                                               duration, ahead}})).front();
  }

  std::vector<LivingSession> RenewOne(const std::string& worker, absl::Duration duration,
                                      const std::string& progress = "") {
    return Required(RenewSessions(*session_, {{worker, duration, progress}}));
  }

  void LoseAll() {
    Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 second'");
    Required(ExpireSessions(*session_));
  }
};

TEST_F(SessionsTest, ATouchMakesASession) {
  const LivingSession made = TouchOne("w", 7, kShort);
  EXPECT_EQ(made.worker_id, "w");
  EXPECT_EQ(made.id, UuidOf(7));
  EXPECT_EQ(made.remaining, kShort);
  EXPECT_EQ(Sql("SELECT name || ' ' || lease_duration || ' ' || state "
                "FROM skiplane.worker_session"),
            "name of w 00:01:00 1");
}

TEST_F(SessionsTest, ATouchExtendsAndNeverShortens) {
  TouchOne("w", 7, kShort);
  const LivingSession longer = TouchOne("w", 8, kLong);
  EXPECT_EQ(longer.id, UuidOf(7)) << "the session stays";
  EXPECT_EQ(longer.remaining, kLong);
  const LivingSession shorter = TouchOne("w", 8, kShort);
  EXPECT_GT(shorter.remaining, kShort);
  EXPECT_LE(shorter.remaining, kLong);
  EXPECT_EQ(Sql("SELECT lease_duration FROM skiplane.worker_session"), "00:01:00");
}

TEST_F(SessionsTest, ATouchMovesFurtherAheadThanTheDuration) {
  EXPECT_EQ(TouchOne("w", 7, kShort, absl::Seconds(30)).remaining, absl::Seconds(90));
  EXPECT_EQ(Sql("SELECT lease_duration FROM skiplane.worker_session"), "00:01:00");
}

TEST_F(SessionsTest, ManyWorkersInOneStatement) {
  const std::vector<Touch> touches = {{"", "", UuidOf(1), kShort, {}},
                                      {"", "", UuidOf(2), kLong, {}},
                                      {"a", "", UuidOf(3), kShort, {}},
                                      {"b", "", UuidOf(4), kLong, {}}};
  std::vector<pg::Uuid> ids;
  for (const LivingSession& living : Required(TouchSessions(*session_, touches))) {
    ids.push_back(living.id);
  }
  EXPECT_THAT(ids, UnorderedElementsAre(UuidOf(1), UuidOf(2), UuidOf(3), UuidOf(4)));
  EXPECT_THAT(CountWorkers(*session_), IsOkAndHolds(2)) << "calls without a worker are none";
}

// Every heartbeat with progress once wrote all that was ever reported of what is held, some 100 MB:
// the heartbeats of all workers that came with it waited.
TEST_F(SessionsTest, OfTasksThatAHeartbeatDoesNotNameProgressIsKeptUpToABound) {
  Put(600);
  const std::vector<model::LeaseToken> tokens = testing::TokensOf(Take(600));
  const auto report = [&](size_t named, size_t with_progress) {
    std::vector<std::string> held, progress;
    for (size_t i = 0; i < named; ++i) {
      const model::LeaseToken& token = tokens[i];
      held.push_back(absl::StrCat("\"", token.task.id, "\""));
      if (i >= with_progress) continue;
      progress.push_back(absl::StrCat("\"", token.task.id, "\": {\"lane\": ", lane_,
                                      ", \"lease\": ", token.lease_number, "}"));
    }
    return absl::StrCat("{\"held\": [", absl::StrJoin(held, ","), "], \"progress\": {",
                        absl::StrJoin(progress, ","), "}}");
  };
  TouchOne("w", 7, kShort);
  RenewOne("w", kShort, report(600, 600));
  const std::string kept = "SELECT count(*) FROM skiplane.worker_session s, jsonb_each(s.progress)";
  EXPECT_EQ(Number(kept), 600);
  RenewOne("w", kShort, report(600, 1));
  EXPECT_EQ(Number(kept), 600) << "it names them";
  RenewOne("w", kShort, report(1, 1));
  EXPECT_EQ(Number(kept), 257);
}

TEST_F(SessionsTest, ALostSessionIsNotRevived) {
  TouchOne("w", 7, kShort);
  LoseAll();
  EXPECT_THAT(RenewOne("w", kShort), IsEmpty());
  EXPECT_EQ(TouchOne("w", 8, kShort).id, UuidOf(8));
  EXPECT_THAT(RenewOne("w", kShort), ::testing::SizeIs(1));
  EXPECT_THAT(Required(FindGoneSessions(*session_)).lost, ElementsAre(UuidOf(7)));
  const GoneSessions unknown =
      Required(UnknownSessions(*session_, {UuidOf(7), UuidOf(8), UuidOf(9)}));
  EXPECT_THAT(unknown.lost, UnorderedElementsAre(UuidOf(7), UuidOf(9)));
  EXPECT_THAT(unknown.ended, IsEmpty());
}

TEST_F(SessionsTest, ASessionIsLostOnlyWhenItsEndHasPassed) {
  TouchOne("w", 7, kShort);
  TouchOne("x", 8, kShort);
  Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 second' "
      "WHERE worker_id = 'w'");
  EXPECT_THAT(ExpireSessions(*session_), IsOkAndHolds(1));
  EXPECT_THAT(ExpireSessions(*session_), IsOkAndHolds(0));
  EXPECT_THAT(Required(FindGoneSessions(*session_)).lost, ElementsAre(UuidOf(7)));
  EXPECT_THAT(CountWorkers(*session_), IsOkAndHolds(1));
}

TEST_F(SessionsTest, AHeartbeatOfAnOverdueSessionThatNobodyDeclaredLostSavesIt) {
  TouchOne("w", 7, kShort);
  Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 second'");
  const std::vector<LivingSession> beaten = RenewOne("w", kShort);
  ASSERT_EQ(beaten.size(), 1u);
  EXPECT_EQ(beaten[0].remaining, kShort);
  EXPECT_THAT(ExpireSessions(*session_), IsOkAndHolds(0));
}

TEST_F(SessionsTest, AHeartbeatExtendsAndNeverShortens) {
  TouchOne("w", 7, kShort);
  EXPECT_EQ(RenewOne("w", kLong).front().remaining, kLong);
  EXPECT_GT(RenewOne("w", kShort).front().remaining, kShort);
  EXPECT_EQ(RenewOne("w", kShort).front().id, UuidOf(7));
}

// Operators saw that a worker leased for 31 s.
TEST_F(SessionsTest, WhatARenewalIsAheadIsNoneOfTheDuration) {
  TouchOne("w", 7, absl::Seconds(3));
  const auto living = Required(
      RenewSessions(*session_, {{"w", absl::Seconds(3), "", absl::Seconds(1)}}));
  ASSERT_EQ(living.size(), 1u);
  EXPECT_EQ(living[0].remaining, absl::Seconds(4));
  EXPECT_EQ(Sql("SELECT lease_duration FROM skiplane.worker_session"), "00:00:03");
}

TEST_F(SessionsTest, AHeartbeatOfAnUnknownWorkerIsMissing) {
  TouchOne("a", 7, kShort);
  const std::vector<SessionRenewal> renewals = {{"a", kShort, ""}, {"b", kShort, ""}};
  const std::vector<LivingSession> living = Required(RenewSessions(*session_, renewals));
  ASSERT_EQ(living.size(), 1u);
  EXPECT_EQ(living[0].worker_id, "a");
}

TEST_F(SessionsTest, TheHeartbeatSaysUpToWhichLeaseToLook) {
  TouchOne("v", 6, kShort);
  TouchOne("w", 7, kShort);
  EXPECT_EQ(RenewOne("w", kShort).front().recheck_until, 0);
  model::LeaseToken older, newer;
  older.session = newer.session = UuidOf(7);
  older.lease_number = 1700000000000001;
  newer.lease_number = 1700000000000002;
  EXPECT_THAT(TellSessions(*session_, {newer, older}), IsOk());
  EXPECT_THAT(TellSessions(*session_, {older}), IsOk());
  EXPECT_EQ(RenewOne("w", kShort).front().recheck_until, newer.lease_number);
  EXPECT_EQ(RenewOne("w", kShort).front().recheck_until, newer.lease_number)
      << "an answer may get lost";
  EXPECT_EQ(RenewOne("v", kShort).front().recheck_until, 0);
}

TEST_F(SessionsTest, TasksTellWhatBecameOfLeases) {
  Put(4);
  const std::vector<LeasedRow> leased = Take(4);
  const std::vector<model::LeaseToken> tokens = testing::TokensOf(leased);
  Settle({tokens[1]}, Action::kAck);
  Settle({tokens[2]}, Action::kRelease);
  Sql(absl::StrCat("UPDATE skiplane.task SET cancel_requested = true WHERE id = ",
                   tokens[3].task.id));
  EXPECT_THAT(Required(FindLeaseStates(*session_, tokens)),
              ElementsAre(model::LeaseState::kHeld, model::LeaseState::kLost,
                          model::LeaseState::kLost, model::LeaseState::kCancelRequested));
}

TEST_F(SessionsTest, ProgressIsMergedByTask) {
  TouchOne("w", 7, kShort);
  RenewOne("w", kShort,
           R"({"held": ["1", "2"], "progress": {"1": {"fraction": 0.5, "message": "half"},)"
           R"( "2": {"fraction": 0.1}}})");
  RenewOne("w", kShort);
  RenewOne("w", kShort, R"({"held": ["1", "2"], "progress": {"2": {"fraction": 0.9}}})");
  EXPECT_EQ(Sql("SELECT progress FROM skiplane.worker_session"),
            R"({"1": {"message": "half", "fraction": 0.5}, "2": {"fraction": 0.9}})");
}

TEST_F(SessionsTest, ProgressOfAHeldLeaseStaysAlsoWhenAnotherThreadReports) {
  TouchOne("w", 1, kShort);
  Put(2);
  const std::vector<model::LeaseToken> tokens = testing::TokensOf(Take(2));
  for (const model::LeaseToken& token : tokens) {
    RenewOne("w", kShort,
             absl::StrCat(R"({"held": [")", token.task.id, R"("], "progress": {")", token.task.id,
                          R"(": {"lane": )", lane_, R"(, "lease": )", token.lease_number, "}}}"));
  }
  const std::string kept = "SELECT count(*) FROM skiplane.worker_session s, jsonb_each(s.progress)";
  EXPECT_EQ(Number(kept), 2);
  Settle({tokens[0]}, Action::kAck);
  RenewOne("w", kShort, R"({"held": [], "progress": {"9": {}}})");
  EXPECT_EQ(Number(kept + " e WHERE e.key = '" + std::to_string(tokens[0].task.id) + "'"), 0);
  EXPECT_EQ(Number(kept + " e WHERE e.key = '" + std::to_string(tokens[1].task.id) + "'"), 1);
}

TEST_F(SessionsTest, ProgressOfTasksThatAreNotHeldAnyMoreIsDropped) {
  TouchOne("w", 7, kShort);
  RenewOne("w", kShort, R"({"held": ["1"], "progress": {"1": {"fraction": 0.5}}})");
  RenewOne("w", kShort, R"({"held": ["2"], "progress": {"2": {"fraction": 0.9}}})");
  EXPECT_EQ(Sql("SELECT progress FROM skiplane.worker_session"), R"({"2": {"fraction": 0.9}})");
}

TEST_F(SessionsTest, SessionsAreFoundAsTheyAreAndOnlyWhileTheyLive) {
  TouchOne("a", 7, kLong);
  TouchOne("b", 8, kLong);
  Sql("UPDATE skiplane.worker_session SET state = 2 WHERE worker_id = 'b'");
  const std::string before = Sql("SELECT expire_time FROM skiplane.worker_session ORDER BY id");
  const std::vector<LivingSession> found =
      Required(FindSessions(*session_, std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].worker_id, "a");
  EXPECT_EQ(found[0].id, UuidOf(7));
  EXPECT_GT(found[0].remaining, kLong / 2);
  EXPECT_EQ(Sql("SELECT expire_time FROM skiplane.worker_session ORDER BY id"), before);
}

TEST_F(SessionsTest, TheLeasesOfASessionAreThoseThatItStillHolds) {
  Put(3);
  const std::vector<model::LeaseToken> tokens = testing::TokensOf(Take(3));
  Settle({tokens[1]}, Action::kAck);
  const std::vector<model::LeaseToken> held =
      Required(FindLeasesOf(*session_, lane_, {tokens[0].session}));
  ASSERT_EQ(held.size(), 2u);
  for (const model::LeaseToken& lease : held) {
    const model::LeaseToken& token = lease.task == tokens[0].task ? tokens[0] : tokens[2];
    EXPECT_EQ(lease.task, token.task);
    EXPECT_EQ(lease.lease_number, token.lease_number);
    EXPECT_EQ(lease.attempt, 1);
  }
  EXPECT_THAT(Required(FindLeasesOf(*session_, lane_, {UuidOf(99)})), IsEmpty());
  std::vector<pg::Uuid> many;  // which are looked for in another way
  for (uint8_t byte = 60; byte < 90; ++byte) many.push_back(UuidOf(byte));
  EXPECT_THAT(Required(FindLeasesOf(*session_, lane_, many)), IsEmpty());
  many.push_back(tokens[0].session);
  EXPECT_EQ(Required(FindLeasesOf(*session_, lane_, many)).size(), held.size());
}

TEST_F(SessionsTest, ATouchTellsTheTimeAsLeaseNumbersDo) {
  TouchOne("w", 7, kShort);
  Put(1);
  const std::vector<model::LeaseToken> tokens = testing::TokensOf(Take(1));
  const LivingSession later = TouchOne("w", 7, kShort);
  EXPECT_GE(later.now, tokens[0].lease_number);
}

TEST_F(SessionsTest, TellsWhatRemainsOfALivingSessionOnly) {
  TouchOne("w", 7, kLong);
  const absl::Duration remaining = Required(SessionRemaining(*session_, UuidOf(7)));
  EXPECT_GT(remaining, kLong / 2);
  EXPECT_LE(remaining, kLong);
  Sql("UPDATE skiplane.worker_session SET state = 2");
  EXPECT_EQ(Required(SessionRemaining(*session_, UuidOf(7))), absl::ZeroDuration());
}

TEST_F(SessionsTest, GraceGivesLivingSessionsOneTimeOut) {
  TouchOne("late", 7, kShort);
  TouchOne("well", 8, kLong);
  TouchOne("lost", 9, kShort);
  Sql("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 second' "
      "WHERE worker_id = 'late'");
  Sql("UPDATE skiplane.worker_session SET state = 2 WHERE worker_id = 'lost'");
  EXPECT_THAT(GrantGrace(*session_), IsOkAndHolds(2));
  EXPECT_THAT(ExpireSessions(*session_), IsOkAndHolds(0));
  EXPECT_EQ(Sql("SELECT expire_time - now() > interval '50 s' FROM skiplane.worker_session "
                "WHERE worker_id = 'late'"),
            "t");
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.worker_session WHERE state = 2"), 1);
}

TEST_F(SessionsTest, OnlyLostSessionsAreForgotten) {
  TouchOne("w", 7, kShort);
  LoseAll();
  TouchOne("w", 8, kShort);
  EXPECT_THAT(ForgetSessions(*session_, {UuidOf(7), UuidOf(8)}), IsOkAndHolds(1));
  EXPECT_THAT(Required(FindGoneSessions(*session_)).lost, IsEmpty());
  EXPECT_THAT(CountWorkers(*session_), IsOkAndHolds(1));
}

// The default of 30 s once hid the death of a worker that had asked for three.
TEST_F(SessionsTest, AHeartbeatWithoutADurationKeepsTheSessions) {
  Required(TouchSessions(*session_, {{"w", "", testing::UuidOf(1), absl::Seconds(3), {}, {}}}));
  const auto living = Required(RenewSessions(*session_, {{"w", absl::ZeroDuration(), ""}}));
  ASSERT_EQ(living.size(), 1u);
  EXPECT_LE(living[0].remaining, absl::Seconds(3));
  EXPECT_EQ(Sql("SELECT lease_duration FROM skiplane.worker_session"), "00:00:03");
}

}  // namespace
}  // namespace skiplane::store
