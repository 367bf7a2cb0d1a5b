// Gives space back to the disk: cuts the empty end of tables off that are mostly empty, and
// rebuilds the indexes of tables that became small.
//
// Tables grow and shrink with the backlog, and a file that is cut must grow again. So only a table
// that was mostly empty at several checks in a row is cut. Neither step waits for a lock for longer
// than the session's lock_timeout, and while a table is cut PostgreSQL lets others in who wait for
// it. Commands may run for half an hour: the session must not be the one of other chores. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/pg/session.h"
#include "server/store/space.h"

namespace skiplane::upkeep {

struct VacuumOptions {
  store::SpaceBounds bounds = {.table_pages_min = 8192,     // 64 MiB
                               .index_pages_min = 2048,     // 16 MiB
                               .rebuilt_pages_max = 1024};  // some milliseconds
  int checks = 5;  // in a row at which there was something to give back
};

struct VacuumResult {
  int64_t steps = 0;
  int64_t bytes = 0;  // given back
};

class Vacuum {
 public:
  explicit Vacuum(VacuumOptions options = {}) : options_(options) {}

  // One check, and the steps that are due. What another session is in the way of is left for later.
  // A role that may not take a step says so once in the log.
  absl::StatusOr<VacuumResult> RunOnce(pg::Session& session);

 private:
  absl::Status Take(pg::Session& session, const store::SpaceStep& step, VacuumResult* result);
  void NoteRights(const store::SpaceStep* forbidden);

  const VacuumOptions options_;
  absl::flat_hash_map<std::string, int> checks_;  // by command
  bool has_told_ = false;
};

}  // namespace skiplane::upkeep
