// A worker of an InMemoryBroker, as user code holds it. Thread-safe.
#pragma once

#include <memory>
#include <utility>

#include "client/src/testing/memory_state.h"
#include "skiplane/roles.h"

namespace skiplane::internal {

class MemoryWorker : public RunningWorker {
 public:
  MemoryWorker(std::shared_ptr<MemoryState> state, MemoryCrewPtr crew)
      : state_(std::move(state)), crew_(std::move(crew)) {}
  ~MemoryWorker() override { state_->Stop(crew_); }

  void Stop() override { state_->Stop(crew_); }
  void EndGrace() override { state_->EndGrace(crew_); }
  absl::Status WaitForEnd() override;
  WorkerCounts counts() const override { return crew_->tally.counts(); }

 private:
  const std::shared_ptr<MemoryState> state_;
  const MemoryCrewPtr crew_;
};

}  // namespace skiplane::internal
