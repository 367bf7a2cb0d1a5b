// Notes that the database goes on to answer while a chore takes long, on a connection of its own.
// Without that the time of the chore would look like an outage, after which all sessions get a
// grace: a chore that takes long again and again would keep dead workers alive for ever. Where the
// database did not answer for two seconds, nothing is noted any more, and the grace is due.
// Thread-safe, but for Start() and Stop().
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "server/pg/session.h"

namespace skiplane::upkeep {

class MarkKeeper {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  MarkKeeper(pg::ConnectOptions connect, const pg::Uuid& broker_id);
  ~MarkKeeper();

  void Start();
  // Nothing is noted any more, and a mark that is being made is broken off. Idempotent.
  void Stop();

  // A chore begins. When it has lasted for a second, marks are made twice a second.
  void Begin();
  struct Marks {
    std::optional<SteadyTime> last;  // unset: none was made
    bool is_unsure = false;          // another one may have been made after it
  };
  // It has ended, and no mark comes any more. Waits for one that is being made for a second at
  // most, and then breaks it off.
  Marks End();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::upkeep
