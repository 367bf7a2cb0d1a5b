#include "tests/bench/load/many_workers.h"

#include <grpcpp/client_context.h>

#include <latch>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/preload.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr size_t kAtOnce = 100;  // what one connection takes

struct Call {
  grpc::ClientContext context;
  v1::LeaseRequest request;
  v1::LeaseResponse response;
};

}  // namespace

std::vector<HeldTask> LeaseOneEach(Stage& stage, int64_t workers, absl::Duration lease_duration) {
  EnqueueAll(stage, workers);
  std::vector<HeldTask> held(static_cast<size_t>(workers));
  for (size_t first = 0; first < held.size(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, held.size() - first);
    std::latch ended(static_cast<ptrdiff_t>(count));
    std::vector<std::unique_ptr<Call>> calls;
    for (size_t i = first; i < first + count; ++i) {
      calls.push_back(std::make_unique<Call>());
      v1::LeaseRequest& request = calls.back()->request;
      held[i].worker_id = absl::StrCat(stage.queue(), "-", i);
      request.add_queues()->set_name(stage.queue());
      request.set_worker_id(held[i].worker_id);
      request.set_max_tasks(1);
      stage.SetId(request);
      request.mutable_wait()->set_seconds(5);
      request.mutable_lease_duration()->set_seconds(absl::ToInt64Seconds(lease_duration));
      stage.stub().async()->Lease(
          &calls.back()->context, &request, &calls.back()->response,
          [&stage, &ended, &task = held[i], call = calls.back().get()](const grpc::Status& status) {
            if (!status.ok()) stage.Fail("Lease", status);
            task.leased = absl::Now();
            if (!call->response.tasks().empty()) {
              task.lease_token = call->response.tasks(0).lease_token();
            }
            ended.count_down();
          });
    }
    ended.wait();
  }
  for (const HeldTask& task : held) {
    testing::Require(!task.lease_token.empty(), "a worker got no task");
  }
  return held;
}

}  // namespace skiplane::bench
