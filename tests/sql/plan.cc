#include "tests/sql/plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/reason.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

constexpr char kName[] = "explained";

std::string Nulls(pg::Session& session) {
  const pg::Rows rows = Required(session.RunText(absl::StrCat(
      "SELECT coalesce(cardinality(parameter_types), 0) FROM pg_prepared_statements WHERE name = '",
      kName, "'")));
  return absl::StrJoin(std::vector<std::string>(static_cast<size_t>(rows.Int(0, 0)), "NULL"), ", ");
}

void Collect(const nlohmann::json& node, std::vector<PlanNode>& nodes) {
  const auto text = [&node](const char* key) { return node.value(key, std::string()); };
  nodes.push_back({text("Node Type"), text("Relation Name"), text("Index Name"),
                   text("Index Cond"),
                   node.value("Shared Hit Blocks", int64_t{0}) +
                       node.value("Shared Read Blocks", int64_t{0}),
                   node.value("Actual Rows", int64_t{0})});
  if (!node.contains("Plans")) return;
  for (const nlohmann::json& below : node.at("Plans")) Collect(below, nodes);
}

absl::StatusOr<pg::Rows> TryExplain(pg::Session& session, const sql::Query& query,
                                    absl::string_view options, absl::string_view arguments) {
  Required(session.RunText(absl::StrCat("PREPARE ", kName, " AS ", query.text)));
  const std::string values = arguments.empty() ? Nulls(session) : std::string(arguments);
  absl::StatusOr<pg::Rows> rows =
      session.RunText(absl::StrCat("EXPLAIN (", options, "FORMAT JSON) EXECUTE ", kName,
                                   values.empty() ? "" : absl::StrCat("(", values, ")")));
  Required(session.RunText(absl::StrCat("DEALLOCATE ", kName)));
  return rows;
}

std::vector<PlanNode> Explain(pg::Session& session, const sql::Query& query,
                              absl::string_view options, absl::string_view arguments) {
  const pg::Rows rows = Required(TryExplain(session, query, options, arguments));
  const absl::string_view text = rows.Text(0, 0);
  std::vector<PlanNode> nodes;
  Collect(nlohmann::json::parse(text.begin(), text.end()).at(0).at("Plan"), nodes);
  return nodes;
}

std::vector<PlanNode> RunAndRollBack(pg::Session& session, const sql::Query& query,
                                     absl::string_view arguments) {
  Required(session.RunText("BEGIN"));
  std::vector<PlanNode> nodes = Explain(session, query, "ANALYZE, BUFFERS, ", arguments);
  Required(session.RunText("ROLLBACK"));
  return nodes;
}

}  // namespace

std::vector<PlanNode> PlanOf(pg::Session& session, const sql::Query& query,
                             absl::string_view arguments) {
  return Explain(session, query, "", arguments);
}

bool MayRun(pg::Session& session, const sql::Query& query) {
  const absl::Status status = TryExplain(session, query, "", "").status();
  Require(status.ok() || base::ReasonOf(status) == "DATABASE_PERMISSION_DENIED",
          status.ToString());
  return status.ok();
}

int64_t BuffersOf(pg::Session& session, const sql::Query& query, absl::string_view arguments) {
  int64_t buffers = 0;
  for (const PlanNode& node : RunAndRollBack(session, query, arguments)) {
    buffers = std::max(buffers, node.buffers);
  }
  return buffers;
}

int64_t MostRowsOf(pg::Session& session, const sql::Query& query, absl::string_view arguments) {
  int64_t rows = 0;
  for (const PlanNode& node : RunAndRollBack(session, query, arguments)) {
    rows = std::max(rows, node.rows);
  }
  return rows;
}

}  // namespace skiplane::testing
