// Ten thousand worker sessions, each with three heartbeats per lease duration of 30 s.
#include <grpcpp/client_context.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/bench/bench.h"
#include "tests/bench/load/many_workers.h"
#include "tests/bench/load/metronome.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kSessions = 10'000;
constexpr absl::Duration kLease = absl::Seconds(30);

// Sends the heartbeats, and counts the answers.
class Beats {
 public:
  Beats(Stage& stage, const std::vector<HeldTask>& held) : stage_(stage), held_(held) {}

  void Run() {
    BeatInTurn(stage_, held_.size(), kLease, [this](size_t number) { Heartbeat(held_[number]); });
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return under_way_ == 0; });
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::HeartbeatRequest request;
    v1::HeartbeatResponse response;
  };

  void Heartbeat(const HeldTask& task) {
    const auto call = std::make_shared<Call>();
    call->request.set_worker_id(task.worker_id);
    call->request.mutable_lease_duration()->set_seconds(absl::ToInt64Seconds(kLease));
    call->request.add_leases()->set_lease_token(task.lease_token);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++under_way_;
    }
    stage_.stub().async()->Heartbeat(
        &call->context, &call->request, &call->response, [this, call](const grpc::Status& status) {
          const bool is_held = status.ok() && call->response.results_size() == 1 &&
                               call->response.results(0).state() == v1::LEASE_STATE_HELD;
          if (is_held) stage_.Count(1);
          if (!is_held) stage_.Fail("Heartbeat: a lease is not held", status);
          const std::lock_guard<std::mutex> lock(mutex_);
          if (--under_way_ == 0) idle_.notify_all();
        });
  }

  Stage& stage_;
  const std::vector<HeldTask>& held_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int under_way_ = 0;
};

}  // namespace

void RunHeartbeats(Bench& bench, const std::string& name) {
  Stage stage(name, bench.shared(), bench.options());
  const std::vector<HeldTask> held = LeaseOneEach(stage, bench.Scaled(kSessions), kLease);
  Beats beats(stage, held);
  std::thread beating([&beats] { beats.Run(); });
  Figures figures = stage.Measure();
  beating.join();
  figures.extras = {{"sessions", static_cast<double>(held.size())},
                    {"broker_cpu_percent", CpuPercent(figures, &Meters::broker)},
                    {"postgres_cpu_percent", CpuPercent(figures, &Meters::postgres)}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
