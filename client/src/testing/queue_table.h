// The queues of a broker in memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "skiplane/queue.h"

namespace skiplane::internal {

class QueueTable {
 public:
  explicit QueueTable(bool creates) : creates_(creates) {}

  // NOT_FOUND; or makes it. `field` is the caller's.
  absl::StatusOr<Queue*> Find(absl::string_view name, absl::Time now,
                              absl::string_view field = "name");
  // Of one that is known to exist.
  const Queue& At(const std::string& name) const { return queues_.at(name); }

  absl::StatusOr<Queue> Create(absl::string_view name, absl::Time now);
  absl::StatusOr<Queue> Create(absl::string_view name, const QueueSettings& settings,
                               int lane_count, absl::Time now);
  absl::StatusOr<Queue*> Get(absl::string_view name);
  std::vector<Queue> List() const;
  absl::StatusOr<Queue> Update(absl::string_view name, const QueueSettings& settings,
                               absl::string_view etag, absl::Time now);
  absl::StatusOr<Queue> SetPause(absl::string_view name, PauseMode mode, absl::string_view reason,
                                 absl::Time now);

 private:
  const bool creates_;
  std::map<std::string, Queue, std::less<>> queues_;
  int64_t changes_ = 0;
};

// Whether a pause of this mode stops the other.
bool StopsLease(const Queue& queue);
bool StopsEnqueue(const Queue& queue);

}  // namespace skiplane::internal
