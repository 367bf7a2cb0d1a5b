// Who reads tasks and attempts cannot tell whether they are packed.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "server/store/slice.h"
#include "tests/store/pack/packer.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::kOtherWorker;
using testing::kWorker;
using testing::PackAttempts;
using testing::PackTasks;
using testing::Required;
using testing::TaskWithPriority;

struct Reader {
  std::string text;
  std::vector<std::string> arguments;
  // What may differ, and a value that does not.
  std::vector<std::pair<std::string, std::string>> but_for{};
};

Reader Reads(const sql::Query& query, std::vector<std::string> arguments) {
  return {std::string(query.text), std::move(arguments)};
}

std::string Bound(const Reader& reader) {
  std::string text = absl::StrReplaceAll(reader.text, reader.but_for);
  for (size_t i = reader.arguments.size(); i > 0; --i) {
    text = absl::StrReplaceAll(text, {{absl::StrCat("$", i), reader.arguments[i - 1]}});
  }
  return text;
}

class PackReadsTest : public testing::StoreHarness {
 protected:
  // All of one time, as those of a pack are.
  void MakeAlike() {
    Sql("UPDATE skiplane.task SET schedule_time = now() - interval '1 s', "
        "create_time = now() - interval '1 s' WHERE schedule_time <= now()");
  }

  static std::string Quoted(const std::vector<int64_t>& ids) {
    return absl::StrCat("'{", absl::StrJoin(ids, ","), "}'");
  }

  // Lines that only one of two looks gave, with `change` between them; at one time.
  std::string Differences(const std::vector<Reader>& readers, const std::string& change) {
    std::string look, sql = "BEGIN; CREATE TEMP TABLE line (look int, reader int, line text);";
    for (size_t i = 0; i < readers.size(); ++i) {
      absl::StrAppend(&look, "INSERT INTO line SELECT $look, ", i, ", r::text FROM (",
                      Bound(readers[i]), ") r;");
    }
    absl::StrAppend(&sql, absl::StrReplaceAll(look, {{"$look", "1"}}), change,
                    absl::StrReplaceAll(look, {{"$look", "2"}}), R"sql(COMMIT;
      SELECT string_agg(concat(d.reader, ' of look ', d.looks, ': ', d.line), E'\n'
                        ORDER BY d.reader, d.line)
      FROM (SELECT l.reader, l.line, array_agg(l.look)::text AS looks FROM line l
            GROUP BY l.reader, l.line
            HAVING count(*) FILTER (WHERE look = 1) <> count(*) FILTER (WHERE look = 2)
            UNION ALL
            SELECT i, NULL, 'nothing' FROM generate_series(0, $last) i
            WHERE NOT EXISTS (SELECT FROM line l WHERE l.reader = i)) d)sql");
    return Sql(absl::StrReplaceAll(sql, {{"$last", absl::StrCat(readers.size() - 1)}}));
  }

  std::string LeasedTokens(absl::string_view column) {
    return absl::StrCat("'", Sql(absl::StrCat("SELECT array_agg(", column,
                                              " ORDER BY id) FROM skiplane.task WHERE state = 2")),
                        "'");
  }

  // Of all, from the newest, by ids, by state, header and payload.
  static std::vector<Reader> Lists(const std::string& lane, const std::string& all) {
    const std::array<std::string, 2> any = {"'{null}'", "'{null,null}'"};
    const std::string no_text = "'{null,null,null}'";
    return {
        Reads(sql::kTaskFilter, {lane, "0", "1000", "1000", any[0], "7", no_text, any[1], any[1],
                                 "'{}'", "false"}),
        Reads(sql::kTaskFilter, {lane, "80", "1000", "1000", any[0], "7", no_text, any[1], any[1],
                                 "'{}'", "true"}),
        Reads(sql::kTaskFilter, {lane, "0", "1000", "1000", any[0], "7", no_text, any[1], any[1],
                                 all, "false"}),
        Reads(sql::kTaskFilter, {lane, "0", "1000", "1000", any[0], "4", no_text, any[1], any[1],
                                 "'{}'", "false"}),
        Reads(sql::kTaskFilter, {lane, "0", "1000", "1000", any[0], "7",
                                 "'{null,null,null,null,a}'", "'{null,null,1}'", any[1], "'{}'",
                                 "false"}),
        Reads(sql::kTaskFilter,
              {lane, "0", "1000", "1000", "'{0}'", "1", "'{null,\"{\\\"a\\\": \\\"1\\\"}\",null}'",
               any[1], "'{0,0}'", "'{}'", "false"})};
  }

  std::vector<Reader> ReadersOfTasks(const std::vector<int64_t>& ids) {
    const std::string lane = absl::StrCat(lane_), all = Quoted(ids);
    const std::string leased = LeasedTokens("id"), numbers = LeasedTokens("lease_number"),
                      sessions = LeasedTokens("session"), lanes = LeasedTokens("lane");
    const std::string ledgers =
        absl::StrCat("'", Sql("SELECT array_agg(id) FROM skiplane.lease_ledger"), "'");
    const std::array<std::string, 2> any = {"'{null}'", "'{null,null}'"};
    const std::string no_text = "'{null,null,null}'";
    std::vector<Reader> readers = {
        Reads(sql::kTaskGet, {lane, all, "true", "100000", "true"}),
        Reads(sql::kTaskGet, {lane, all, "false", "3000", "false"}),
        Reads(sql::kTaskKnown, {lane, all}),
        Reads(sql::kLanePriorities, {lane, "0::int2"}),
        Reads(sql::kLeaseState, {lanes, leased, numbers, sessions}),
        Reads(sql::kLeaseStatus, {lane, leased, numbers, sessions}),
        Reads(sql::kSessionLeases, {lane, sessions, "1000"}),
        Reads(sql::kWorkerBusy, {lane, "0::int2"}),
        Reads(sql::kWorkerList, {"''", "''", "100", "''"}),
        Reads(sql::kAttemptOldest, {}),
        Reads(sql::kQueueBytes, {absl::StrCat("'{", lane, "}'")}),
        {"SELECT * FROM skiplane.tasks", {}}};
    std::ranges::move(Lists(lane, all), std::back_inserter(readers));
    Reader& found = readers.emplace_back(Reads(sql::kLeaseGet, {lane, "'{}'", ledgers}));
    found.but_for = {{"t.row_location", "1"}};
    Reader& lost = readers.emplace_back(
        Reads(sql::kLedgerEntries, {lane, sessions, "'{0}'::int2[]", "'{1}'", "1",
                                   "repeat('0', 32)::uuid", "100", "5000"}));
    lost.but_for = {{"x.is_packed", "true"}, {"x.bytes", "0"}};
    for (size_t i = 0; i < ids.size(); i += 9) {
      const int64_t id = ids[i];
      readers.push_back(Reads(sql::kTaskFilter, {lane, absl::StrCat(id), "7", "5", any[0], "7",
                                                 no_text, any[1], any[1], "'{}'", "false"}));
      readers.push_back(Reads(
          sql::kTaskAhead,
          {lane, "0::int2", "0::int2",
           absl::StrCat("(SELECT schedule_time FROM skiplane.tasks WHERE task_id = '", lane, "-",
                        id, "')"),
           absl::StrCat(id)}));
    }
    return readers;
  }
};

TEST_F(PackReadsTest, LivingTasks) {
  Sql(absl::StrCat("INSERT INTO skiplane.worker_session (id, worker_id, name, lease_duration, "
                   "expire_time) SELECT repeat('0' || i, 16)::uuid, 'w' || i, 'name', "
                   "'1 h', now() + interval '1 h' FROM generate_series(1, 2) i"));
  model::NewTask rich;
  rich.payload = std::string("a\0b", 3);
  rich.headers = {{"a", "1"}, {"b", "\"{}\\"}};
  rich.content_type = "text/plain";
  std::vector<int64_t> ids = Put(100, rich);
  for (const int64_t id : Put(5)) ids.push_back(id);
  for (const int64_t id : Put(3, TaskWithPriority(-4))) ids.push_back(id);
  MakeAlike();
  Take(20, kWorker);
  Take(50, kOtherWorker);
  Take(1, kWorker);
  const std::vector<int64_t> late = Put(1, testing::TaskIn(absl::Hours(1)));
  ids.push_back(late.front());
  const std::vector<Reader> readers = ReadersOfTasks(ids);
  EXPECT_EQ(Differences(readers, PackTasks()), "");
  EXPECT_EQ(Sql("SELECT count(*) FROM skiplane.task"), "1");
  EXPECT_EQ(Sql("SELECT count(*) FROM skiplane.task_pack"), "4");
  std::string unpack = absl::StrReplaceAll(sql::kTaskUnpack.text, {{"$1", absl::StrCat(lane_)}});
  unpack = absl::StrReplaceAll(unpack, {{"$2", Quoted(ids)}});
  EXPECT_EQ(Differences(readers, unpack + ";"), "");
  EXPECT_EQ(Sql("SELECT count(*) FROM skiplane.task_pack"), "0");
}

TEST_F(PackReadsTest, Attempts) {
  const std::vector<int64_t> ids = Put(70);
  MakeAlike();
  const std::string lane = absl::StrCat(lane_);
  SettleBatch batch = Batch(testing::TokensOf(Take(40)));
  Required(AckByLocation(*session_, batch));
  batch = Batch(testing::TokensOf(Take(20, kOtherWorker)));
  Required(AckByLocation(*session_, batch));
  const std::string all = Quoted(ids);
  std::vector<Reader> readers = {
      Reads(sql::kTaskGet, {lane, all, "true", "100000", "true"}),
      Reads(sql::kLeaseStatus, {lane, absl::StrCat("'{", ids.front(), "}'"), "'{7}'",
                                "array[gen_random_uuid()]"}),
      {"SELECT * FROM skiplane.attempts", {}}};
  for (size_t i = 0; i < 60; ++i) {
    const int64_t id = ids[i];
    readers.push_back(
        Reads(sql::kAttemptList, {lane, absl::StrCat(id), "'infinity'", "10", "100000"}));
    readers.push_back(Reads(sql::kFinishedFilter,
                            {lane, absl::StrCat(id - 1), "7", "5", "'{null}'", "3",
                             "'{null,null,null}'", "'{null,null}'", "'{null,null}'", "'{}'",
                             "false"}));
  }
  EXPECT_EQ(Differences(readers, PackAttempts()), "");
  EXPECT_EQ(Sql("SELECT count(*) FROM skiplane.history"), "0");
}

// A pack is one row of a slice, at the key of its first task.
TEST_F(PackReadsTest, ReadyTasks) {
  Put(100);
  MakeAlike();
  Take(10);
  Sql(PackTasks());
  const Slice slice = Required(ReadSlice(*session_, lane_, 0, {}, 1000));
  EXPECT_EQ(slice.seen, 3);
  EXPECT_EQ(slice.ready, 90);
  ASSERT_TRUE(slice.first_ready.has_value());
  EXPECT_EQ(absl::StrCat(slice.first_ready->id),
            Sql("SELECT min(id) FROM skiplane.task_pack WHERE state = 1"));
  Put(1);
  EXPECT_EQ(Required(ReadSlice(*session_, lane_, 0, {}, 2)).seen, 2);
  EXPECT_EQ(Required(ReadSlice(*session_, lane_, 0, {}, 1000)).ready, 91);
}

TEST_F(PackReadsTest, WhatIsLeftOfAPackHasItsPartOfTheBytes) {
  Put(10, testing::TaskOf(std::string(100, 'x')));
  MakeAlike();
  model::LeaseToken token = TakeOne();
  Sql(PackTasks());
  token.block = model::LeaseToken::kPackBlock;
  const auto bytes = [this] {
    return Required(session_->Run(sql::kQueueBytes, pg::Params().Int8Array({lane_}))).Int(0, 0);
  };
  EXPECT_EQ(bytes(), 1000);
  Settle({token}, Action::kAck);
  EXPECT_EQ(bytes(), 900);
}

}  // namespace
}  // namespace skiplane::store
