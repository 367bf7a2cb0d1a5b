// Brokers of version 0.1.0 beside newer ones, while all are replaced: one set of tasks for a
// request id, wherever it arrives. The statements of 0.1.0 are here as it has them, but for their
// values.
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/model/request_key.h"
#include "server/pg/migrate/migration.h"
#include "server/pg/migrate/migrations.h"
#include "server/pg/migrate/migrator.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::Required;

constexpr char kEnqueueOnce[] = R"(
SELECT e.id, e.outcome FROM skiplane.enqueue_once(
  '{LANE,LANE}', '{ID,NEXT}', '{null,null}', '{0,0}', '{10,10}', '{0,0}', '{null,null}',
  '{null,null}', '{a,b}', '{KEY,null}', '{ID,ID}', '{POLICY,1}', '{null,null}', '{0,0}',
  '{null,null}', '{null,null}', '{null,null}', '{1,1}', '{LANE}', '{REQUEST}',
  array[sha256('BODY')], '{ID}', false) AS e)";

constexpr char kRequestGet[] = R"(
SELECT w.request_id, x.body_hash, x.first_id, (date_part('epoch', x.create_time) * 1e6)::int8
FROM unnest('{REQUEST}'::text[]) AS w(request_id)
CROSS JOIN LATERAL (
  SELECT r.body_hash, r.first_id, r.create_time FROM skiplane.enqueue_request r
  WHERE r.lane = LANE AND r.request_id = w.request_id OFFSET 0
) x)";

struct OldCall {
  int64_t first_id;
  std::string request_id = "r";
  std::string body = "body";
  std::string key = "null";
  int policy = 1;
};

// The ids that were made; 0 stands for the refusal of a key.
absl::StatusOr<std::vector<int64_t>> EnqueueAsOld(pg::Session& session, int64_t lane,
                                                  const OldCall& call) {
  const absl::StatusOr<pg::Rows> rows = session.RunText(absl::StrReplaceAll(
      kEnqueueOnce, {{"LANE", absl::StrCat(lane)},
                     {"ID", absl::StrCat(call.first_id)},
                     {"NEXT", absl::StrCat(call.first_id + 1)},
                     {"KEY", call.key},
                     {"POLICY", absl::StrCat(call.policy)},
                     {"REQUEST", call.request_id},
                     {"BODY", call.body}}));
  if (!rows.ok()) return rows.status();
  std::vector<int64_t> made;
  for (int row = 0; row < rows->size(); ++row) {
    if (rows->IsNull(row, 1)) continue;
    if (rows->Int(row, 1) == 6) made.push_back(0);
    if (rows->Int(row, 1) == 1) made.push_back(rows->Int(row, 0));
  }
  return made;
}

std::string Hash(const std::string& body, const testing::Database& database) {
  return database.Run(absl::StrCat("SELECT sha256('", body, "')"));
}

class OlderBrokerTest : public testing::StoreHarness {
 protected:
  int64_t NextCall() { return next_id_ += 2; }

  // What 0.1.0 would compare and answer: body hash and first id.
  std::pair<std::string, int64_t> AnswerOfOld(const std::string& request_id) {
    const auto rows = Required(session_->RunText(absl::StrReplaceAll(
        kRequestGet, {{"LANE", absl::StrCat(lane_)}, {"REQUEST", request_id}})));
    if (rows.empty()) return {};
    return {std::string(rows.Text(0, 1)), rows.Int(0, 2)};
  }

  absl::StatusOr<Enqueued> EnqueueAsNew(pg::Session& session, int64_t first,
                                        const std::string& request_id,
                                        const std::string& body = "body") {
    const std::vector<model::NewTask> tasks(2);
    std::vector<TaskRow> rows;
    for (const model::NewTask& task : tasks) {
      rows.push_back({{lane_, first + static_cast<int64_t>(rows.size())}, &task, 10, first});
    }
    const std::string hash = Required(session.RunText(absl::StrCat("SELECT sha256('", body, "')")))
                                 .Bytea(0, 0);
    const std::vector<RequestRow> requests = {{lane_, request_id, hash, first}};
    return EnqueueAsked(session, rows, requests);
  }

  int64_t Tasks() const { return Number("SELECT count(*) FROM skiplane.task"); }
};

TEST_F(OlderBrokerTest, ANewerOneKnowsWhatAnOlderOneAnswered) {
  const int64_t first = NextCall();
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, {first}), IsOkAndHolds(ElementsAre(first, first + 1)));
  EXPECT_THAT(Required(EnqueueAsNew(*session_, NextCall(), "r")).made, IsEmpty());
  const auto answered = Required(AnsweredRequests(*session_, lane_, {"r"}));
  EXPECT_EQ(answered.at("r").first_id, first);
  EXPECT_EQ(absl::StrCat(absl::Hex(answered.at("r").body_hash, absl::kZeroPad16)),
            Hash("body", database_).substr(2, 16));
  EXPECT_EQ(Tasks(), 2);
}

TEST_F(OlderBrokerTest, AnOlderOneKnowsWhatANewerOneAnswered) {
  const int64_t first = NextCall();
  EXPECT_EQ(Required(EnqueueAsNew(*session_, first, "r")).made.size(), 2u);
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, {NextCall()}), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(AnswerOfOld("r"), std::pair(Hash("body", database_), first));
  EXPECT_EQ(Tasks(), 2);
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, {NextCall()}), IsOkAndHolds(IsEmpty()));
}

TEST_F(OlderBrokerTest, AnotherBodyIsAnotherBodyToAnOlderOneToo) {
  Required(EnqueueAsNew(*session_, NextCall(), "r", "body of another call"));
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, {NextCall()}), IsOkAndHolds(IsEmpty()));
  EXPECT_NE(AnswerOfOld("r").first, Hash("body", database_));
  EXPECT_NE(AnswerOfOld("r").first, "");
}

TEST_F(OlderBrokerTest, WhatAnOlderOneAnsweredBeforeTheTableCameIsItsToRepeat) {
  Sql("ALTER TABLE skiplane.enqueue_request DISABLE TRIGGER share_request_id");
  const int64_t first = NextCall();
  Required(EnqueueAsOld(*session_, lane_, {first}));
  Sql("ALTER TABLE skiplane.enqueue_request ENABLE TRIGGER share_request_id");
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, {NextCall()}), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(AnswerOfOld("r").second, first);
  EXPECT_THAT(Required(EnqueueAsNew(*session_, NextCall(), "r")).made, IsEmpty());
  EXPECT_EQ(Required(AnsweredRequests(*session_, lane_, {"r"})).at("r").first_id, first);
}

// The key is held by the task of the very call.
TEST_F(OlderBrokerTest, ARepeatAtAnOlderOneIsNotRefusedForTheKeyOfItsOwnTask) {
  model::NewTask task = testing::KeyedTask("k");
  task.key_policy = model::KeyPolicy::kReject;
  const int64_t first = NextCall();
  const std::vector<TaskRow> rows = {{{lane_, first}, &task, 10, first}};
  const std::vector<RequestRow> requests = {{lane_, "r", "hash", first}};
  Required(EnqueueOnce(*session_, rows, requests));
  OldCall repeat{NextCall(), "r", "body", "k", 5};
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, repeat), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(AnswerOfOld("r").second, first);
  repeat.request_id = "other";
  EXPECT_THAT(EnqueueAsOld(*session_, lane_, repeat), IsOkAndHolds(ElementsAre(0)));
}

TEST_F(OlderBrokerTest, TheLaterOfTwoCallsAtTheSameInstantWaitsAndMakesNothing) {
  for (const bool is_old_first : {false, true}) {
    const std::string id = absl::StrCat("r", is_old_first);
    const auto run = [&](pg::Session& session, bool is_old, int64_t first) {
      if (is_old) return EnqueueAsOld(session, lane_, {first, id}).status();
      return EnqueueAsNew(session, first, id).status();
    };
    const auto early = Open();
    const auto late = Open();
    const int64_t first = NextCall();
    const int64_t second = NextCall();
    Required(early->RunText("BEGIN"));
    EXPECT_THAT(run(*early, is_old_first, first), testing::IsOk());
    std::thread waiter(
        [&] { EXPECT_THAT(run(*late, !is_old_first, second), testing::IsOk()); });
    WaitUntilBlocked(*late);
    Required(early->RunText("COMMIT"));
    waiter.join();
    EXPECT_EQ(Required(AnsweredRequests(*session_, lane_, {id})).at(id).first_id, first);
    EXPECT_EQ(AnswerOfOld(id), std::pair(Hash("body", database_), first));
  }
  EXPECT_EQ(Tasks(), 4);
}

// A database as 0.1.0 made it, which is migrated while 0.1.0 works.
TEST(OlderSchemaTest, CallsThatRunWhileItIsMigratedAreKnown) {
  const testing::Database database;
  const pg::ConnectOptions options{.uri = database.uri(),
                                   .statement_timeout = absl::Seconds(50),
                                   .lock_timeout = absl::Seconds(50)};
  ASSERT_THAT(pg::ApplyMigrations(options, absl::MakeSpan(pg::kMigrations).first(1)),
              IsOkAndHolds(1));
  database.Run("INSERT INTO skiplane.queue (name, settings) VALUES ('q', '{}'); "
               "INSERT INTO skiplane.queue_lane (queue_id, ordinal) "
               "SELECT id, 0 FROM skiplane.queue");
  const auto session = [&] { return Required(pg::Session::Open(options, nullptr)); };
  const auto wait_for = [&](const std::string& lock) {
    database.Run(absl::StrCat(
        "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND mode = '", lock,
        "' AND relation = 'skiplane.enqueue_request'::regclass AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())) LOOP END LOOP; END $$"));
  };
  const auto early = session();
  Required(EnqueueAsOld(*early, 1, {100, "long before"}));
  Required(early->RunText("BEGIN"));
  Required(EnqueueAsOld(*early, 1, {200, "before"}));
  std::thread migration([&] {
    EXPECT_THAT(pg::Migrate(options), IsOkAndHolds(pg::LatestSchemaVersion() - 1));
  });
  wait_for("ShareRowExclusiveLock");
  std::thread late([&] { Required(EnqueueAsOld(*session(), 1, {300, "beside"})); });
  wait_for("RowExclusiveLock");
  Required(early->RunText("COMMIT"));
  migration.join();
  late.join();

  const auto newer = session();
  const model::NewTask task;
  const std::vector<RequestRow> requests = {
      {1, "before", "", 1000}, {1, "beside", "", 1001}, {1, "long before", "", 1002}};
  std::vector<TaskRow> rows;
  for (const RequestRow& request : requests) {
    rows.push_back({{1, request.first_id}, &task, 10, request.first_id});
  }
  EXPECT_THAT(Required(EnqueueAsked(*newer, rows, requests)).made, IsEmpty());
  const auto answered =
      Required(AnsweredRequests(*newer, 1, {"before", "beside", "long before"}));
  EXPECT_EQ(answered.at("long before").first_id, 100);
  EXPECT_EQ(answered.at("before").first_id, 200);
  EXPECT_EQ(answered.at("beside").first_id, 300);
  EXPECT_EQ(database.Run("SELECT count(*) FROM skiplane.answered_request"), "1");
}

}  // namespace
}  // namespace skiplane::store
