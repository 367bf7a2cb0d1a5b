// What each role may, of all that the schema has. What is new and has no line here fails the test:
// whoever adds it decides who may use it.
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "server/pg/session.h"
#include "server/sql/queries.h"
#include "tests/sql/plan.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

// Tables, views and sequences, each partition of a day as NAME_DAY; nobody may do anything with
// those that have nothing behind their name.
constexpr char kRelations[] = R"(admin_request broker=SELECT,INSERT,UPDATE,DELETE
answered_request broker=SELECT,INSERT,DELETE
attempts reader=SELECT
audit broker=SELECT,INSERT
audit_id_seq
broker broker=SELECT,INSERT,UPDATE,DELETE
bulk_operation broker=SELECT,INSERT,UPDATE,DELETE
clock_step broker=SELECT,INSERT,UPDATE
counter broker=SELECT,INSERT,UPDATE,DELETE
counter_delta broker=SELECT,INSERT,UPDATE,DELETE
enqueue_request broker=SELECT,INSERT,UPDATE,DELETE
error_delta broker=SELECT,INSERT,UPDATE,DELETE
error_group broker=SELECT,INSERT,UPDATE,DELETE
error_note broker=SELECT,INSERT,UPDATE
failed_tasks reader=SELECT
history broker=SELECT,INSERT
history_DAY
history_default broker=SELECT,UPDATE,DELETE
hour_statistics broker=SELECT,INSERT,UPDATE,DELETE
lease_ledger broker=SELECT,INSERT,UPDATE,DELETE
minute_statistics broker=SELECT,INSERT,UPDATE,DELETE
pack_history broker=SELECT,INSERT
pack_history_DAY
pack_history_default broker=SELECT,UPDATE,DELETE
packed_attempt broker=SELECT
packed_task broker=SELECT
queue broker=SELECT,INSERT,UPDATE
queue_id_seq
queue_lane broker=SELECT,INSERT
queue_lane_lane_seq
queues reader=SELECT
schema_version broker=SELECT
settled broker=SELECT,INSERT,UPDATE,DELETE
task broker=SELECT,INSERT,UPDATE,DELETE
task_failed broker=SELECT,INSERT,DELETE
task_failed_DAY
task_failed_default broker=SELECT,UPDATE,DELETE
task_id broker=USAGE
task_id_sql
task_key broker=SELECT,INSERT,UPDATE,DELETE
task_pack broker=SELECT,INSERT,UPDATE,DELETE
tasks reader=SELECT
token_key broker=SELECT,INSERT,DELETE
upkeep_lead broker=SELECT,INSERT,UPDATE
worker_session broker=SELECT,INSERT,UPDATE,DELETE
workers reader=SELECT)";

// The same of functions, and of types that are not a table's.
constexpr char kFunctions[] = R"(add_hours broker
attempts_of
check_room
cron_mask broker
cron_masks broker
cron_next broker
cron_problem broker
cron_wall broker
declare_schedules broker
declared_starts broker
drop_partition broker
due_slot broker
enqueue producer
enqueue_asked broker
enqueue_json producer
enqueue_many producer
enqueue_once broker
first_positions broker
grant_rights
headers_problem
is_rejected broker
key_holders broker
lane_of_key
leading_bigint broker
lowest_bit broker
make_partitions broker
make_task producer
make_tasks
next_planned_time broker
notify_brokers
notify_time_of broker
open_queue
packed broker
packed_attempts broker
positions broker
purge_lane broker
refuse_key
remove_queue broker
request_hash broker
share_request_id
sql_api_version producer reader
stage_number
task_problem
type key_holder
type new_task producer
worker_handle broker reader
write_tasks
zone_offset broker)";

// Of PUBLIC, too: it may do nothing.
constexpr char kRoles[] =
    "unnest('{public,skiplane_broker,skiplane_producer,skiplane_reader}'::text[]) WITH ORDINALITY "
    "AS r(role, n)";

std::string Relations(const Database& database) {
  return database.Run(absl::StrCat(R"sql(
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
  SELECT DISTINCT concat_ws(' ', regexp_replace(c.relname, '_[0-9]{8}$', '_DAY'), (
    SELECT string_agg(m.may, ' ' ORDER BY m.n) FROM (
      SELECT r.n, concat(replace(r.role, 'skiplane_', ''), '=',
                         string_agg(p.right, ',' ORDER BY p.n)) AS may
      FROM )sql", kRoles, R"sql(, unnest(CASE WHEN c.relkind = 'S' THEN '{SELECT,USAGE,UPDATE}' ELSE
        '{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}' END::text[]) WITH ORDINALITY
        AS p("right", n)
      WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(r.role, c.oid, p.right)
                 ELSE has_table_privilege(r.role, c.oid, p.right) END
      GROUP BY r.n, r.role
    ) m)) AS line
  FROM pg_class c
  WHERE c.relnamespace = 'skiplane'::regnamespace AND c.relkind NOT IN ('c', 'i', 'I', 't')
) x)sql"));
}

std::string Functions(const Database& database) {
  return database.Run(absl::StrCat(R"sql(
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
  SELECT concat_ws(' ', f.name, (
    SELECT string_agg(replace(r.role, 'skiplane_', ''), ' ' ORDER BY r.n) FROM )sql", kRoles, R"sql(
    WHERE CASE WHEN f.is_type THEN has_type_privilege(r.role, f.oid, 'USAGE')
               ELSE has_function_privilege(r.role, f.oid, 'EXECUTE') END)) AS line
  FROM (
    SELECT p.oid, p.proname AS name, false AS is_type FROM pg_proc p
    WHERE p.pronamespace = 'skiplane'::regnamespace
    UNION ALL
    SELECT t.oid, 'type ' || t.typname, true
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.typnamespace = 'skiplane'::regnamespace AND t.typcategory <> 'A'
      AND coalesce(c.relkind, 'c') = 'c'
  ) f
) x)sql"));
}

TEST(RightsTest, EachRoleMayDoWithRelationsWhatIsListedHere) {
  EXPECT_EQ(Relations(Database::Migrated()), kRelations);
}

TEST(RightsTest, EachRoleMayCallTheFunctionsThatAreListedHere) {
  EXPECT_EQ(Functions(Database::Migrated()), kFunctions);
}

TEST(RightsTest, NoRoleHasRightsOnColumnsNorMayMakeAnything) {
  const Database database = Database::Migrated();
  EXPECT_EQ(database.Run("SELECT count(*) FROM pg_attribute WHERE attacl IS NOT NULL AND attrelid "
                         "IN (SELECT c.oid FROM pg_class c "
                         "WHERE c.relnamespace = 'skiplane'::regnamespace)"),
            "0");
  EXPECT_EQ(database.Run(absl::StrCat(
                "SELECT string_agg(r.role || ' ' || p, ', ' ORDER BY r.n, p) FROM ", kRoles,
                ", unnest('{USAGE,CREATE}'::text[]) p "
                "WHERE has_schema_privilege(r.role, 'skiplane', p)")),
            "skiplane_broker USAGE, skiplane_producer USAGE, skiplane_reader USAGE");
}

// Also where a superuser migrated, as here: functions that run as their owner must not be theirs.
TEST(RightsTest, AllBelongsToARoleThatOwnsNothingElse) {
  EXPECT_EQ(Database::Migrated().Run(R"sql(
SELECT string_agg(DISTINCT pg_get_userbyid(o.owner), ' ') FROM (
  SELECT nspowner AS owner FROM pg_namespace WHERE nspname = 'skiplane'
  UNION ALL SELECT relowner FROM pg_class WHERE relnamespace = 'skiplane'::regnamespace
  UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'skiplane'::regnamespace
  UNION ALL SELECT typowner FROM pg_type WHERE typnamespace = 'skiplane'::regnamespace
) o)sql"),
            "skiplane_owner");
  EXPECT_EQ(Database::Migrated().Run("SELECT rolsuper OR rolcreaterole OR rolcanlogin "
                                     "FROM pg_roles WHERE rolname = 'skiplane_owner'"),
            "f");
}

// What runs as its owner would else find what its caller put in the way.
TEST(RightsTest, WhatRunsAsItsOwnerHasASearchPathOfItsOwn) {
  EXPECT_EQ(Database::Migrated().Run(
                "SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p "
                "WHERE p.pronamespace = 'skiplane'::regnamespace AND p.prosecdef "
                "AND 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig)"),
            "drop_partition enqueue enqueue_many make_partitions notify_brokers purge_lane "
            "remove_queue");
  EXPECT_EQ(Database::Migrated().Run("SELECT count(*) FROM pg_proc p WHERE p.prosecdef "
                                     "AND p.pronamespace = 'skiplane'::regnamespace"),
            "7");
}

// Rights that no plan shows: the migrator reads versions, enqueue_once notes requests, a plan draws
// no number, functions read the views of packs, and brokers before 0.2 lock the deltas that they
// fold.
bool IsNeededBeside(const std::string& right) {
  return right == "schema_version SELECT" || right == "enqueue_request INSERT" ||
         right == "task_id USAGE" || right == "packed_attempt SELECT" ||
         right == "packed_task SELECT" || right == "counter_delta UPDATE";
}

// Whether a statement that names the relation is refused.
bool IsMissed(pg::Session& session, const std::string& relation) {
  const std::regex name(absl::StrCat("skiplane\\.", relation, "\\b"));
  for (const sql::Query* query : sql::kAll) {
    if (std::regex_search(query->text, name) && !MayRun(session, *query)) return true;
  }
  return false;
}

TEST(RightsTest, ABrokersStatementsNeedEachOfItsRightsOnRelations) {
  const Database database = Database::Migrated();
  const auto session = Required(pg::Session::Open({.uri = database.broker_uri()}, nullptr));
  const auto superuser = Required(pg::Session::Open({.uri = database.uri()}, nullptr));
  for (const sql::Query* query : sql::kAll) EXPECT_TRUE(MayRun(*session, *query)) << query->name;
  const std::string rights = database.Run(
      "SELECT string_agg(concat_ws(' ', c.relname, a.privilege_type), ',') "
      "FROM pg_class c, aclexplode(c.relacl) a "
      "WHERE c.relnamespace = 'skiplane'::regnamespace "
      "AND a.grantee = 'skiplane_broker'::regrole");
  for (const std::string& right : std::vector<std::string>(absl::StrSplit(rights, ','))) {
    if (IsNeededBeside(right)) continue;
    const std::pair<std::string, std::string> parts = absl::StrSplit(right, ' ');
    const std::string on = absl::StrCat(parts.second, " ON skiplane.", parts.first);
    Required(superuser->RunText(absl::StrCat("REVOKE ", on, " FROM skiplane_broker")));
    EXPECT_TRUE(IsMissed(*session, parts.first)) << "no statement needs " << right;
    Required(superuser->RunText(absl::StrCat("GRANT ", on, " TO skiplane_broker")));
  }
}

}  // namespace
}  // namespace skiplane::testing
