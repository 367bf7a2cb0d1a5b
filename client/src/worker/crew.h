// The threads that run the handler.
#pragma once

#include <thread>
#include <vector>

#include "client/src/worker/holdings.h"
#include "client/src/worker/settler.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

class Crew {
 public:
  Crew(int threads, Handler handler, Holdings& holdings, Settler& settler);
  ~Crew() { Join(); }

  // Holdings must be closed. Returns when every handler has returned. Idempotent.
  void Join();

 private:
  void Loop();
  Result Run(Hold& hold) const;

  const Handler handler_;
  Holdings& holdings_;
  Settler& settler_;
  std::vector<std::thread> threads_;
};

}  // namespace skiplane::internal
