// Packs: many ordinary tasks in one row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/pg/session.h"
#include "server/store/enqueue.h"
#include "server/store/settle.h"

namespace skiplane::store {

// Gives those of some tasks that are packed rows of their own, under the same leases, and with one
// that waits all of its pack that wait: so statements for rows find them. Nothing else changes, so
// it may be a commit of its own.
absl::Status Unpack(pg::Session& session, int64_t lane, absl::Span<const int64_t> ids);

// As EnqueueAsked, in packs; nothing, and nothing done, if the tasks would fill too few of them.
std::optional<absl::StatusOr<Enqueued>> EnqueuePacked(pg::Session& session,
                                                      absl::Span<const TaskRow> tasks,
                                                      absl::Span<const RequestRow> requests);

// As AckByLocation, of packed tasks.
absl::StatusOr<std::vector<size_t>> AckPacked(pg::Session& session, const SettleBatch& batch,
                                              absl::Time* now);

}  // namespace skiplane::store
