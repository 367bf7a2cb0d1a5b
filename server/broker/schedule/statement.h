// What a scheduler asks of the database, and what it gets: one lease statement for the callers of
// one lane, or one probe. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/timer.h"
#include "server/broker/schedule/bounds.h"
#include "server/broker/schedule/turns.h"
#include "server/model/lane_stage.h"
#include "server/store/lease.h"

namespace skiplane::broker {

struct LeaseRun {
  model::LaneStage lane_stage;
  QueuePtr queue;
  std::vector<TicketPtr> tickets;  // the callers, in the order of demand.callers
  store::LeaseDemand demand;       // the callers' sessions and ledger ids are to be filled in
  Bounds::Snapshot snapshot = 0;
  int64_t announced_before = 0;  // when it was gathered
  int64_t hints_before = 0;      // likewise
  bool asks_for_more = false;    // by its last slot: than is believed to be there
  std::vector<Turn> turns;       // that it took
  std::vector<std::string> unsought;  // request ids under which nobody looked for leases yet
  // After kAlreadyExists: the request ids under which something is leased, if that could be read.
  std::optional<std::vector<std::string>> taken_ids;
  enum class Kind {
    kStatement,    // of its own
    kReservation,  // in the transaction of an ack
    kHandOff,      // by the statement that makes the tasks
  };
  Kind kind = Kind::kStatement;

  bool IsReservation() const { return kind == Kind::kReservation; }

  // Of whoever runs it: until when the callers' sessions live; and, after its answer was lost,
  // until when it is looked for.
  std::vector<base::SteadyTime> lives_until;
  std::vector<TicketPtr> gone;  // callers whose sessions have ended
  base::SteadyTime resolve_until{};
};

struct ProbeStart {
  base::SteadyTime began;
  int64_t announced_before = 0;
  int64_t hints_before = 0;
  int64_t forgotten_dues_before = 0;
  int64_t unread_before = 0;
  // The keys after which it looks, of the priorities that are known; none: it reads the priorities,
  // and each from its start.
  std::vector<store::Bound> from;
  bool is_rescan = false;  // nothing waits for it: others may run beside it
};

struct ProbeResult {
  std::vector<int16_t> priorities;        // that occur in the lane, if they were read
  std::vector<store::Bound> first_ready;  // the first ready task of each priority that has one
  int64_t ready = 0;  // tasks seen ready; Belief::kPlenty when a slice was full of them
  std::optional<absl::Duration> next_due_in;
  bool has_packs = false;  // with ready tasks
};

// Of its payload and headers.
int64_t ContentBytes(const model::LeasedTask& task);

// Says of which queue the task is, and at which stage of it.
void NameQueue(const model::Queue& queue, model::LeasedTask& task);

// Whose the first, second, … task is, as index + 1: as they were dealt out one by one, or, where
// turns brought several, one each in turn.
std::vector<int32_t> SlotsOf(const Dealt& dealt);

// Whether payload bytes, or packs that were not leased to their end, not a lack of tasks, may have
// ended the statement.
bool MayHaveLeftSome(const LeaseRun& run, const store::Leased& leased);

// For a statement that asks for all that is believed to be there: then its answer tells whether
// that was all. Whoever comes next after those who have slots gets it. Not if nobody has room.
void AskForOneMore(LeaseRun& run);

// Whether it left nothing, but for what others may have had locked. `hints`: of now.
bool TookAll(const LeaseRun& run, const store::Leased& leased, int64_t hints);

// Of a statement whose answer was lost: nobody knows what it said of packs, and the next one looks
// where it did.
void LeaveBounds(const store::LeaseDemand& demand, store::Leased& leased);

// Of what was leased, how many tasks per caller.
std::vector<int64_t> CountPerCaller(const LeaseRun& run,
                                    const absl::StatusOr<store::Leased>& leased);

// After kAlreadyExists: whether something may be leased under the request id of this caller.
bool MayBeTaken(const LeaseRun& run, const Ticket& ticket);

// The greatest key of each priority before which the statement left nothing: a row that does not
// fit into its caller's bytes stays ready, and others after it are leased.
std::vector<store::Bound> LastKeys(const LeaseRun& run, const std::vector<store::LeasedRow>& rows);

}  // namespace skiplane::broker
