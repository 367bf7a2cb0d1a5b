// Plans of run-time statements, as the broker's connections get them (generic, and under the
// planner settings of pg::Session). Not thread-safe; failures end the test program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/pg/session.h"
#include "server/sql/query.h"

namespace skiplane::testing {

struct PlanNode {
  std::string type;      // "Index Scan", "Nested Loop", …
  std::string relation;  // of scans; else empty
  std::string index;
  std::string condition;  // by which the index is searched; empty: all of it is read
  int64_t buffers = 0;   // shared ones that it and what is below it touched; 0 if it was not run
  int64_t rows = 0;      // that it made in one of its runs; 0 if it was not run
};

// Arguments are SQL expressions, comma-separated; empty: a null for each parameter.
std::vector<PlanNode> PlanOf(pg::Session& session, const sql::Query& query,
                             absl::string_view arguments = "");

// Whether the session's role has the rights that the statement itself needs; those that functions
// need inside show only when they run.
bool MayRun(pg::Session& session, const sql::Query& query);

// How many shared buffers the statement touches when it is run. What it did is rolled back.
int64_t BuffersOf(pg::Session& session, const sql::Query& query, absl::string_view arguments);

// How many rows the node of its plan makes that makes most. What it did is rolled back.
int64_t MostRowsOf(pg::Session& session, const sql::Query& query, absl::string_view arguments);

}  // namespace skiplane::testing
