// Hears NOTIFY on its own connection and thread.
//
// A notification is never needed: it may be lost at any time. `on_state(false)` says that
// notifications are lost from now on, `on_state(true)` that they are heard again; between the two
// anything may have happened. The connection is checked by a query of its own every 10 s (half-open
// connections), and opened again with back-off; each one that is lost, or cannot be made, counts as
// an error of the database. Callbacks run on the listener's thread and must not block. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "server/pg/session.h"

namespace skiplane::metrics {
class Metrics;
}

namespace skiplane::pg {

class Listener {
 public:
  using OnNotify = absl::AnyInvocable<void(absl::string_view payload)>;
  using OnState = absl::AnyInvocable<void(bool listening)>;

  // `metrics` may be null; else it outlives the listener.
  Listener(ConnectOptions options, std::string channel, OnNotify on_notify, OnState on_state,
           metrics::Metrics* metrics = nullptr);
  ~Listener();

  // Joins the thread; no callback runs after it. Idempotent.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skiplane::pg
