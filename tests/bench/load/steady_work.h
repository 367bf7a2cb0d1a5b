// Workers that go on at a pace which the machine could double, while something else happens to
// their queue: how long each of their leases took, and when. A call that fails ends the program.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "skiplane/v1/broker.grpc.pb.h"
#include "tests/bench/broker_run.h"
#include "tests/bench/latencies.h"

namespace skiplane::bench {

class SteadyWork {
 public:
  // At this stage of the queue; each worker enqueues tasks of priority 0, leases as many and
  // finishes them, again and again.
  SteadyWork(const BrokerRun& broker, const std::string& queue, const std::string& stage);
  ~SteadyWork();
  SteadyWork(const SteadyWork&) = delete;
  SteadyWork& operator=(const SteadyWork&) = delete;

  // Tasks finished so far.
  int64_t count() const { return tasks_; }

  // Ends the work. What follows may be called afterwards only.
  void Stop();

  // Of the leases that ended from `begin` to `end`.
  Latencies LeasesOf(absl::Time begin, absl::Time end) const;
  // The longest stretch of time between them in which no lease of any worker ended.
  absl::Duration LongestGap(absl::Time begin, absl::Time end) const;

 private:
  struct Lease {
    absl::Time end;
    absl::Duration took;
  };

  void Run(int number);
  void Enqueue();
  v1::LeaseResponse LeaseSome(int number);
  void Finish(const v1::LeaseResponse& leased);
  std::vector<Lease> LeasesBetween(absl::Time begin, absl::Time end) const;

  const std::string queue_;
  const std::string stage_;
  const std::unique_ptr<v1::BrokerService::Stub> stub_;
  std::atomic<bool> is_over_{false};
  std::atomic<int64_t> tasks_{0};
  std::vector<std::vector<Lease>> leases_;  // of each worker, which alone writes them
  std::vector<std::thread> threads_;
};

}  // namespace skiplane::bench
