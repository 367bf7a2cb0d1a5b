// How long a dead worker's task waits: from the end of the lease that it was promised until another
// worker has it.
#include <grpcpp/client_context.h>

#include <map>
#include <string>

#include "absl/time/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/many_workers.h"
#include "tests/bench/stage.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kWorkers = 1000;
constexpr absl::Duration kLease = absl::Seconds(5);

// Leases all tasks again and gives the moment of each.
std::vector<absl::Time> LeaseAgain(Stage& stage, size_t tasks) {
  std::vector<absl::Time> moments;
  v1::LeaseRequest request;
  request.add_queues()->set_name(stage.queue());
  request.set_worker_id("heir");
  request.set_max_tasks(100);
  request.mutable_wait()->set_seconds(20);
  while (moments.size() < tasks) {
    grpc::ClientContext context;
    v1::LeaseResponse response;
    stage.SetId(request);
    const grpc::Status status = stage.stub().Lease(&context, request, &response);
    testing::Require(status.ok() && response.tasks_size() > 0, "no task came back");
    moments.insert(moments.end(), static_cast<size_t>(response.tasks_size()), absl::Now());
    stage.Count(response.tasks_size());
  }
  return moments;
}

}  // namespace

// The sessions fall silent one after the other, in the order in which they began, and so do their
// tasks come back: the n-th that comes back is compared with the n-th that was leased.
void RunDeadWorkers(Bench& bench, const std::string& name) {
  Stage stage(name, bench.shared(), bench.options());
  Figures figures;
  figures.scenario = name;
  const std::vector<HeldTask> held = LeaseOneEach(stage, bench.Scaled(kWorkers), kLease);
  figures.begin = ReadMeters(stage.broker(), stage.count());
  const std::vector<absl::Time> again = LeaseAgain(stage, held.size());
  figures.end = ReadMeters(stage.broker(), stage.count());
  for (size_t i = 0; i < held.size(); ++i) {
    figures.latencies.Add(again[i] - (held[i].leased + kLease));
  }
  figures.extras = {{"workers", static_cast<double>(held.size())},
                    {"lease_s", absl::ToDoubleSeconds(kLease)},
                    {"slowest_ms", figures.latencies.PercentileMs(1.0)}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
