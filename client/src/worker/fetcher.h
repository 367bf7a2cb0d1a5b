// Leases tasks while there is room for them: one thread, one call at a time.
//
// A call without an answer is repeated under its request id, so that leases made by a broker which
// died before it could answer are found again instead of being kept alive by this worker's beats.
#pragma once

#include <string>
#include <thread>

#include "client/src/worker/holdings.h"
#include "client/src/worker/line.h"
#include "client/src/worker/tally.h"
#include "skiplane/client.h"

namespace skiplane::internal {

class Fetcher {
 public:
  // `call` says everything but max_tasks and request_id.
  Fetcher(Client client, LeaseCall call, Holdings& holdings, Tally& tally);
  ~Fetcher() { Stop(); }

  // Holdings must be closed. Nothing is leased after it returns. Idempotent.
  void Stop();

 private:
  void Loop();
  // Asks once. True: answered, so that the next call is a new one.
  bool Ask(int max_tasks);
  // Fetches what the call that Stop() cut off may have leased, so that it can be handed back.
  void AskForRest(int max_tasks);

  Client client_;
  LeaseCall call_;
  Holdings& holdings_;
  Tally& tally_;
  Line line_;
  std::thread thread_;
};

}  // namespace skiplane::internal
