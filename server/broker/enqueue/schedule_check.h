// Refuses calls with invalid cron schedules before they join a batch, where they would fail other
// calls. Remembers valid schedules. Thread-safe.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/context.h"
#include "server/store/schedules.h"

namespace skiplane::broker {

class ScheduleCheck {
 public:
  explicit ScheduleCheck(Context& context) : context_(context) {}

  // Hands the call on as it is, at once if it has no unknown schedule; or INVALID_FIELD.
  void Check(EnqueueCall call, Callback<EnqueueCall> done);

  // The same at once. `field` comes before the name of a bad field; empty: which task it is.
  absl::Status Validate(pg::Session& session, const EnqueueCall& call, const std::string& field);

  // INVALID_FIELD for what CheckSchedules said. `prefix` comes before the name of the bad field.
  static absl::Status RefusalOf(absl::string_view problem, absl::string_view prefix);

 private:
  // The schedules of the call that are not known to be fine, and the task of each.
  std::vector<std::pair<store::Schedule, size_t>> Unknown(const EnqueueCall& call) const;

  Context& context_;
  mutable base::Mutex mutex_;
  absl::flat_hash_set<store::Schedule> fine_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
