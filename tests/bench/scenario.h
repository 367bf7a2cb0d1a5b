// What all scenarios share: the stubs, a queue of its own, and the measured stretch of time.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"
#include "tests/bench/broker_run.h"
#include "tests/bench/figures.h"
#include "tests/bench/options.h"

namespace skiplane::bench {

// The scenario as its callers see it. Thread-safe.
class Stage {
 public:
  Stage(const std::string& name, const BrokerRun& broker, const Options& options);

  const std::string& queue() const { return name_; }
  const Options& options() const { return options_; }
  v1::BrokerService::Stub& stub() const { return *stub_; }

  // Callers stop after the cycle during which this turns true.
  bool is_over() const { return is_over_; }
  // Only what happens while this is true goes into the latencies.
  bool is_measured() const { return is_measured_; }

  // Tasks that have come to their end.
  void Count(int64_t tasks) { tasks_ += tasks; }

  // A call failed: the scenario is over, and the program fails.
  void Fail(const std::string& what, const grpc::Status& status);

  // Warms up, measures, and turns is_over; shows progress on standard error. The latencies are the
  // scenario's to fill in.
  Figures Measure();

 private:
  // Returns early if the scenario failed.
  void ShowProgress(const char* phase, absl::Duration duration);

  const std::string name_;
  const BrokerRun& broker_;
  const Options& options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::BrokerService::Stub> stub_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_measured_{false};
  std::atomic<int64_t> tasks_{0};

  std::mutex mutex_;
  std::condition_variable failed_;
  std::string failure_;
};

// 200 random bytes.
std::string RandomPayload();

// Each caller enqueues, leases up to as many tasks, acks what it got, and begins anew.
Figures RunCycle(const std::string& name, int callers, int tasks_per_call,
                 const BrokerRun& broker, const Options& options);

// One task each 20 ms for one waiting worker.
Figures RunPickup(const std::string& name, const BrokerRun& broker, const Options& options);

}  // namespace skiplane::bench
