// The threads that run the handler; a task whose content cannot be decoded fails without it.
#pragma once

#include <thread>
#include <vector>

#include "client/src/worker/holdings.h"
#include "client/src/worker/link.h"
#include "client/src/worker/tally.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

class Crew {
 public:
  Crew(int threads, Handler handler, Holdings& holdings, Link& link, const Tally& tally);
  ~Crew() { Join(); }

  // Holdings must be closed. Returns when every handler has returned. Idempotent.
  void Join();

 private:
  void Loop();
  Result Run(Hold& hold) const;

  const Handler handler_;
  Holdings& holdings_;
  Link& link_;
  const Tally& tally_;
  std::vector<std::thread> threads_;
};

}  // namespace skiplane::internal
