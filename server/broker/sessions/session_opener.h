// Workers that say what they hold, when they begin or go on after a break: gathers them, makes or
// renews their sessions, and hands back what the sessions hold and the workers do not know of, as
// its way to them broke. It looks again later, for leases that were being committed meanwhile, and
// until it finds nothing more: what it handed back is still held if the database refused that.
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/broker/api/open_session.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/sessions/session_cache.h"

namespace skiplane::broker {

class SessionOpener {
 public:
  // Gets leases that are to be handed back, uncharged.
  using OnUnknown = std::function<void(std::vector<model::LeaseToken>)>;

  // How long after the first look the later ones come. The last is repeated.
  using Looks = std::vector<std::chrono::milliseconds>;

  SessionOpener(Context& context, SessionCache& sessions, OnUnknown on_unknown,
                Looks later_looks = LaterLooks());

  // `call.lease.lease_duration` is set.
  void Open(OpenSessionCall call, Callback<OpenSessionAnswer> done);

 private:
  static Looks LaterLooks();

  struct Pending {
    OpenSessionCall call;
    Callback<OpenSessionAnswer> done;
  };
  // What a session held when its worker said so.
  struct Known {
    absl::flat_hash_set<std::pair<model::TaskId, int64_t>> leases;
    int64_t until = 0;  // later leases are none of ours to judge
  };
  using KnownBySession = absl::flat_hash_map<pg::Uuid, Known>;

  void Run(absl::StatusOr<pg::Session*> session, std::vector<Pending> opens);
  absl::Status OpenAll(pg::Session& session, const std::vector<Pending>& opens,
                       std::vector<OpenSessionAnswer>* answers, KnownBySession* known);
  void LookLater(const std::shared_ptr<const KnownBySession>& known);
  void LookAfter(std::chrono::milliseconds delay,
                 const std::shared_ptr<const KnownBySession>& known);
  // How many it found.
  absl::StatusOr<size_t> HandBackUnknown(pg::Session& session, const KnownBySession& known);

  Context& context_;
  SessionCache& sessions_;
  const OnUnknown on_unknown_;
  const Looks later_looks_;
  Batcher<Pending> batcher_;
};

}  // namespace skiplane::broker
