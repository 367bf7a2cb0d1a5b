#include "client/src/worker/crew.h"

#include <utility>

#include "client/src/content.h"
#include "client/src/worker/run_handler.h"

namespace skiplane::internal {

Crew::Crew(int threads, Handler handler, Holdings& holdings, Link& link, const Tally& tally)
    : handler_(std::move(handler)), holdings_(holdings), link_(link), tally_(tally) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

void Crew::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Crew::Loop() {
  while (const HoldPtr hold = holdings_.Take()) {
    Result result = Run(*hold);
    // What it says of a run that was cut short is not the task's fault.
    const bool is_cut = hold->is_withdrawn() && result.kind() != Result::Kind::kDone;
    if (is_cut) result = Result::Release();
    if (hold->End()) {
      link_.AddRan(hold, std::move(result));
    } else {
      link_.Ran(hold);
    }
  }
}

Result Crew::Run(Hold& hold) const {
  if (const absl::Status& status = hold.task().content_status; !status.ok()) {
    tally_.Error(status);
    return Result::Retry(NotDecoded(status));
  }
  return RunHandler(handler_, hold.task(), hold);
}

}  // namespace skiplane::internal
