// A change of many tasks, from the question to the end.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/session.h"
#include "skiplane/v1/bulk.pb.h"

namespace skiplane::cli {

struct BulkPlan {
  v1::TaskFilter filter{};
  v1::BulkAction action{};
  // "cancel", for the question.
  std::string verb{};
  bool is_sure = false;
  bool dry_run = false;
};

// Counts what would be changed, asks, does it. Ctrl-C stops it; what was done stays done.
// Without a terminal and without is_sure: a usage error that says what would be done.
absl::Status RunBulk(Session& session, const BulkPlan& plan);

// "1 task", "2,000 tasks".
std::string Tasks(int64_t count);

// Waits for the end with a progress bar on standard error. An interrupt stops the operation:
// `interrupt` is made before the call that starts it, so that none comes too early.
absl::Status Follow(Session& session, v1::BulkOperation& operation, Interrupt& interrupt);

// The same, and shows what it did.
absl::Status FollowAndTell(Session& session, v1::BulkOperation operation, Interrupt& interrupt);

}  // namespace skiplane::cli
