// Leases tasks of one lane for many callers in one statement, and finds leases again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/lease.h"
#include "server/pg/session.h"

namespace skiplane::store {

// The key after which a priority is searched. {priority, InfinitePast, 0} is the start.
struct Bound {
  int16_t priority = 0;
  absl::Time schedule_time = absl::InfinitePast();
  int64_t id = 0;
};

struct LeaseCaller {
  model::SessionId session{};
  int64_t max_bytes = 0;
  pg::Uuid ledger{};       // callers with the same one share a ledger row
  std::string request_id;  // empty: none; else the ledger row is this caller's alone
  bool holds_tasks = false;  // of earlier statements; else its first task may exceed max_bytes
};

struct LeaseDemand {
  bool has_packs = false;  // or may have some
  int64_t lane = 0;
  int16_t stage = 0;
  std::vector<Bound> bounds;        // most urgent first
  std::vector<int32_t> slots;        // who gets the first, second, … task: index + 1 into callers
  std::vector<LeaseCaller> callers;
  int64_t bytes_max = 16 << 20;       // of payloads in one answer, whoever gets them
};

struct LeasedRow {
  int caller = 0;  // index into LeaseDemand::callers
  model::LeasedTask task;  // without its queue's name
  pg::Uuid ledger{};       // of FindLeases
  std::string request_id;  // of FindLeases
};

struct Leased {
  std::vector<LeasedRow> rows;  // most urgent first
  absl::Time now;               // the database's; valid when there are rows
  bool saw_packs = false;  // of LeaseDemand::has_packs
  // The first pack of each priority that was not leased to its end: whoever begins behind it passes
  // over tasks.
  std::vector<Bound> held_back;
};

// What every statement that leases has of its callers: sessions, ledger rows, request ids.
void BindLeasers(absl::Span<const LeaseCaller> callers, pg::Params& params);

// One commit. No rows: nothing was ready. See task_lease.sql for what a short answer does not say.
// kAlreadyExists: something is leased under a caller's request id, or was until it was settled; ask
// FindRequest. Nothing was leased for any caller.
absl::StatusOr<Leased> Lease(pg::Session& session, const LeaseDemand& demand);

// Those of the request ids under which something was leased in the lane, also if it is over by now.
absl::StatusOr<std::vector<std::string>> KnownRequests(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> ids);

// What an earlier Lease with these request ids got in the lane and its worker still holds. If that
// is nothing, what the ledger still has of them goes, so that they may lease anew. An id under
// which something is leased while this runs is found by Lease to be taken.
absl::StatusOr<std::vector<LeasedRow>> FindRequest(pg::Session& session, int64_t lane,
                                                   absl::Span<const absl::string_view> ids);

// The living leases of request ids and of ledger rows of one lane.
absl::StatusOr<std::vector<LeasedRow>> FindLeases(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> request_ids,
    absl::Span<const pg::Uuid> ledgers);

// After a lease statement's answer was lost: makes sure that it either was committed or never can
// be. FindLeases tells then what it leased.
absl::Status CloseLedger(pg::Session& session, int64_t lane, absl::Span<const pg::Uuid> ledgers);

}  // namespace skiplane::store
