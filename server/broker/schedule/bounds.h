// Where the next lease of a lane stage begins to search: for each known priority the key after
// which a task may be ready. It keeps leases fast when dead and leased rows pile up before it.
//
// Not every commit is known here, so a bound may be too high for a while, and leases then pass over
// a ready task. The rules make that rare, and a rescan from the start finds what they miss:
//   - whatever lets a task be leased lowers the bound to just before it (Lower);
//   - a lease raises it only to its own last key, but never past a key that was lowered after the
//     statement was sent (Begin … End);
//   - anything that went wrong puts all bounds back to the start (Reset).
// Invariant: a bound is never greater than a key given to Lower after the last statement that could
// raise it was sent. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/store/lease.h"

namespace skiplane::broker {

class Bounds {
 public:
  using Snapshot = uint64_t;

  // A task of this priority with at least this schedule time came. A priority that was not known
  // starts at the start.
  void Lower(int16_t priority, absl::Time schedule_time);

  // A task was found ready here: lowers to just before it.
  void LowerTo(const store::Bound& ready_task);

  // The priorities of the lane stage, as just read. Others are forgotten unless `keep_others`.
  void SetPriorities(const std::vector<int16_t>& priorities, bool keep_others);

  // A statement that uses Current() is about to be sent.
  Snapshot Begin();

  // It leased up to `last` (one key per priority of which it leased something).
  void End(Snapshot snapshot, const std::vector<store::Bound>& last);

  // It failed, or nobody knows.
  void Fail(Snapshot snapshot);

  void Reset();

  // The priorities are to be read again, and each from its start, before the next lease.
  void Unread() {
    is_read_ = false;
    ++unread_;
  }
  // How often. A look that began before the last time does not tell.
  int64_t unread() const { return unread_; }

  // Where a probe begins: at Current(), or before that where bounds were raised since the last
  // call, as a lease passes rows that others hold.
  std::vector<store::Bound> LookFrom();

  // Most urgent first.
  std::vector<store::Bound> Current() const;
  bool empty() const { return bounds_.empty(); }
  // Whether the priorities were read since the last Reset or Unread: else others than those known
  // here may go first.
  bool IsRead() const { return is_read_; }
  // Whether some bound is not at the start.
  bool IsRaised() const { return raised_ > 0; }

 private:
  using Key = std::pair<absl::Time, int64_t>;  // schedule time, id: the order within a priority
  static Key Start() { return {absl::InfinitePast(), 0}; }

  static std::vector<store::Bound> ToVector(const std::map<int16_t, Key>& keys);
  static void LowerOf(int16_t priority, Key key, std::map<int16_t, Key>& keys);
  void Set(Key& bound, Key key);
  void LowerKey(int16_t priority, Key key);

  // There may be 65,536 of them: Begin, End and IsRaised touch only those of which was leased.
  std::map<int16_t, Key> bounds_;
  int64_t raised_ = 0;             // of them, those that are not at the start
  std::map<int16_t, Key> passed_;  // from which bounds were raised since LookFrom, the least
  // Of each statement that has not ended, by its snapshot: the least key that Lower or LowerTo got
  // for each priority since it was sent. Its end raises no bound past that key.
  std::map<Snapshot, std::map<int16_t, Key>> open_;
  Snapshot last_snapshot_ = 0;
  bool is_read_ = false;
  int64_t unread_ = 0;
};

}  // namespace skiplane::broker
