// What is believed of the ready tasks of one stage of a lane. It decides between a lease statement,
// a probe (a read that takes nothing), and neither. Pure, not thread-safe.
//
//   kUnknown   Nothing is known, or what was known is used up or too old. A lease that finds
//              nothing costs a statement that writes; so the lane is probed first.
//   kEmpty     A probe found nothing ready. Believed until a time only, as notifications of other
//              brokers may be lost.
//   kAtLeast   So many tasks are ready, as commits, notifications, due times or a probe said.
//              Others may be faster, and more may be there: a lease tells.
//
// Transitions (docs/ARCHITECTURE.md draws them, and tests compare and perform them):
//   kUnknown -> kEmpty    Probed, nothing ready
//   kUnknown -> kAtLeast  Announced; Due; Probed, some ready; Unasked
//   kUnknown -> kAtLeast  Leased, cut by bytes; Leased, fewer but more announced
//   kEmpty   -> kUnknown  its time has come; Invalidate; Forget
//   kEmpty   -> kUnknown  Leased, as many as asked for; Leased, fewer than asked for
//   kEmpty   -> kAtLeast  Announced; Due; Probed, some ready; Unasked
//   kEmpty   -> kAtLeast  Leased, cut by bytes; Leased, fewer but more announced
//   kAtLeast -> kUnknown  Asked for as many; Leased, fewer than asked for; Forget
//   kAtLeast -> kEmpty    Probed, nothing ready
// A statement may end when a probe beside it has found the lane stage empty. What was announced or
// became due beside a probe or a lease counts after it, whatever that saw.
#pragma once

#include <cstdint>
#include <limits>

#include "server/base/timer.h"

namespace skiplane::broker {

class Belief {
 public:
  enum class Kind { kUnknown, kEmpty, kAtLeast };
  // More than anybody counts: a probe saw nothing but ready tasks.
  static constexpr int64_t kPlenty = std::numeric_limits<int64_t>::max() / 2;

  Kind KindAt(base::SteadyTime now) const;
  // 0 unless kAtLeast.
  int64_t count() const { return count_; }
  // When kEmpty turns into kUnknown.
  base::SteadyTime empty_until() const { return empty_until_; }
  // Tasks that were announced so far: what changed since, if it grows beside a statement.
  int64_t announced() const { return announced_; }

  // A commit or a notification says that tasks were made; ready ones, or others.
  void Announced(int64_t count, bool are_ready);

  // The time of some tasks has come; how many is a guess.
  void Due(int64_t guess);

  // A statement for `count` tasks, of those that are believed, is about to be sent; or it was not
  // run, or changed nothing.
  void Asked(int64_t count);
  void Unasked(int64_t count);

  // It leased `got` of `asked`. `is_cut`: bytes ended it, not a lack of tasks. `announced_before`:
  // of when it was sent.
  void Leased(int64_t asked, int64_t got, bool is_cut, int64_t announced_before);

  // A probe that began at `announced_before` saw `ready` tasks.
  void Probed(int64_t announced_before, int64_t ready, base::SteadyTime empty_until);

  // Notifications may have been lost.
  void Invalidate();

  // A statement failed: what was believed is dropped.
  void Forget();

 private:
  int64_t count_ = 0;
  int64_t announced_ = 0;
  base::SteadyTime empty_until_{};  // counts while count_ is 0
};

}  // namespace skiplane::broker
