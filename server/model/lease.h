// Leases as values: the token that fences an attempt, and what a worker gets and gives back.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/task.h"

namespace skiplane::model {

// The random 128-bit secret of a worker session. Knowing it is the right to settle its leases.
using SessionId = std::array<uint8_t, 16>;

// From the operating system's random source.
SessionId NewSessionId();

// What proves the right to settle one attempt. The row is the judge: lease_number, session and
// attempt must equal it. `block` and `offset` are where the row was when it was leased: used for
// speed, wrong after the row moved, and never trusted.
struct LeaseToken {
  // No row has this block: `offset` is the task's position in its pack.
  static constexpr uint32_t kPackBlock = 0xFFFFFFFF;

  TaskId task;
  int64_t lease_number = 0;
  SessionId session{};
  int32_t attempt = 0;
  uint32_t block = 0;
  uint16_t offset = 0;
  int16_t stage = 0;          // where the task was when it was leased
  bool is_recurring = false;  // its ack is expected to arm it again

  // Whether it was in a pack when it was leased; it may have a row of its own by now.
  bool IsPacked() const { return block == kPackBlock; }

  friend bool operator==(const LeaseToken&, const LeaseToken&) = default;
};

// A version byte, the fields big-endian, and a checksum that tells a damaged token from an old one.
// Tokens of the first stage of ordinary tasks have the form that brokers before 0.2 read. Those of
// packed tasks have a version that only brokers read which know packs.
std::string EncodeLeaseToken(const LeaseToken& token);

// INVALID_LEASE_TOKEN (INVALID_ARGUMENT) if `text` is not the result of EncodeLeaseToken.
absl::StatusOr<LeaseToken> DecodeLeaseToken(absl::string_view text);

// One attempt on its way to its worker.
struct LeasedTask {
  LeaseToken token;
  std::string queue;
  std::string payload;
  std::string content_type;
  Headers headers;
  std::string key;
  int16_t priority = 0;
  int32_t max_attempts = 0;
  absl::Time create_time;
  absl::Time schedule_time;
  std::string stage;  // empty in a queue without stages
  int64_t version = 0;
  std::optional<absl::Time> planned_time;  // of a periodic task
  std::optional<TaskError> last_error;     // of this run; its text is cut
  std::optional<TaskProgress> last_progress;
};

enum class SettleOutcome {
  kSettled = 1,
  kAlreadySettled = 2,
  kLeaseLost = 3,
  kNotFound = 4,
  kRefused = 5,
};

struct TaskContent {
  std::string payload;
  std::string content_type;
  Headers headers;
};

// What an ack may say of what follows a successful attempt, and its output.
struct AckContinuation {
  std::string next_stage;  // empty: the one after it
  bool finish = false;     // the task ends, whatever stages are left
  std::optional<TaskContent> next_content;  // for the next stage; unset: as it was
  std::string result;
  std::vector<NewTask> follow_ups;  // each names its queue
  std::string principal;            // who asks for them; empty: nobody has to prove it
  std::string party{};              // as in LeaseCall
};

struct AckItem {
  LeaseToken token;
  std::shared_ptr<AckContinuation> continuation;  // null: nothing, as nearly always
  absl::Status refusal = absl::OkStatus();  // else the item cannot be: it is answered, not settled
};

enum class NackDisposition { kRetry = 1, kRelease = 2, kFail = 3 };

struct NackItem {
  LeaseToken token;
  NackDisposition disposition = NackDisposition::kRetry;
  std::optional<absl::Duration> retry_delay;  // of kRetry; unset: the queue's policy
  TaskError error;
  absl::Status refusal = absl::OkStatus();  // as in AckItem
};

using SettleItem = std::variant<AckItem, NackItem>;

struct SettleResult {
  SettleOutcome outcome = SettleOutcome::kNotFound;
  absl::Status refusal;  // with kRefused: why, blaming a field of the item
  // Valid with kSettled:
  TaskState state = TaskState::kSucceeded;
  std::string stage;                        // that it moved to; empty if it did not move
  std::optional<absl::Time> schedule_time;  // set when it runs again
  std::vector<EnqueueResult> follow_ups;    // one per follow-up of an ack
};

struct HeldLease {
  LeaseToken token;
  std::optional<TaskProgress> progress;
};

// What an operator asked a worker to do; the numbers are those of the database.
enum class WorkerCommand : int16_t { kRun = 1, kQuiet = 2, kStop = 3 };

enum class LeaseState { kHeld = 1, kLost = 2, kCancelRequested = 3 };

}  // namespace skiplane::model
