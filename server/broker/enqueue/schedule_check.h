// Refuses calls with invalid cron schedules before they join a batch, where they would fail other
// calls. Remembers valid schedules. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/context.h"
#include "server/store/schedules.h"

namespace skiplane::broker {

class ScheduleCheck {
 public:
  explicit ScheduleCheck(Context& context) : context_(context) {}

  // Hands the call on as it is, at once if it has no unknown schedule; or INVALID_FIELD. Many are
  // looked at in several turns.
  void Check(EnqueueCall call, Callback<EnqueueCall> done);

  // The same at once. `field` comes before the name of a bad field; empty: which task it is.
  absl::Status Validate(pg::Session& session, const EnqueueCall& call, const std::string& field);

  // INVALID_FIELD for what CheckSchedules said. `prefix` comes before the name of the bad field.
  static absl::Status RefusalOf(absl::string_view problem, absl::string_view prefix);

 private:
  // Schedules of a call that are not known to be fine, and the task of each.
  using Unknown = std::vector<std::pair<store::Schedule, size_t>>;
  struct Open {
    EnqueueCall call;
    Callback<EnqueueCall> done;
    Unknown unknown;
    size_t first = 0;  // that was not looked at yet
  };

  Unknown UnknownOf(const EnqueueCall& call) const;
  void SubmitNext(const std::shared_ptr<Open>& open);
  absl::Status ValidateAll(pg::Session& session, absl::Span<const Unknown::value_type> unknown,
                           const std::string& field);

  Context& context_;
  mutable base::Mutex mutex_;
  absl::flat_hash_set<store::Schedule> fine_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
