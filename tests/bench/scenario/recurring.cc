// The scenarios of tasks that are acked more than once: periodic ones, and those of a pipeline.
#include <grpcpp/client_context.h>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/channel.h"
#include "tests/bench/load/classic.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kPeriodicTasks = 1'000'000;
constexpr int64_t kChecks = 400'000;
constexpr int64_t kPipelineTasks = 100'000;
constexpr int kStages = 3;

void AddStages(const BrokerRun& broker, const std::string& queue) {
  const auto stub = v1::AdminService::NewStub(KeptChannel(broker.addresses().front()));
  v1::UpdateQueueRequest request;
  request.set_name(queue);
  for (int i = 0; i < kStages; ++i) {
    request.mutable_settings()->add_stages()->set_name(absl::StrCat("stage", i));
  }
  request.mutable_update_mask()->add_paths("stages");
  v1::UpdateQueueResponse response;
  grpc::ClientContext context;
  const grpc::Status status = stub->UpdateQueue(&context, request, &response);
  testing::Require(status.ok(), absl::StrCat("UpdateQueue: ", status.error_message()));
}

}  // namespace

// A million tasks with a period of 10 s and 100 workers who never come to the end of them; and the
// same work at a hand-made table.
void RunPeriodic(Bench& bench, const std::string& name) {
  std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  const int64_t tasks = bench.Scaled(kPeriodicTasks);
  PreloadRows(*broker, stage.queue(), Preload::kPeriodic, tasks);
  Figures figures = RunCycle(stage, {.callers = 100,
                                     .tasks_per_call = 10,
                                     .is_draining = true,
                                     .backlog = bench.Scaled(kChecks)});
  broker = bench.Fresh();
  Figures classic = RunClassic(absl::StrCat(name, "-classic"), *broker, bench.options(), tasks);
  figures.extras = {{"periodic_tasks", static_cast<double>(tasks)},
                    {"classic_tasks_per_s", TasksPerSecond(classic)},
                    {"classic_p50_ms", classic.latencies.PercentileMs(0.5)},
                    {"classic_p99_ms", classic.latencies.PercentileMs(0.99)},
                    {"classic_share", TasksPerSecond(figures) / TasksPerSecond(classic)}};
  bench.Print(std::move(figures));
}

// Tasks that pass three stages; the rate is that of acks.
void RunStages(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  AddStages(*broker, stage.queue());
  const int64_t tasks = bench.Scaled(kPipelineTasks);
  EnqueueAll(stage, tasks);
  Figures figures = RunCycle(stage, {.is_draining = true, .backlog = kStages * tasks});
  figures.extras = {{"stages", kStages},
                    {"finished_tasks_per_s", TasksPerSecond(figures) / kStages}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
