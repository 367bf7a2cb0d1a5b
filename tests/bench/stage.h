// What all loads share: the stubs, queues of their own, and the measured stretch of time.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"
#include "tests/bench/broker_run.h"
#include "tests/bench/figures.h"
#include "tests/bench/load/payload.h"
#include "tests/bench/load/request_id.h"
#include "tests/bench/options.h"

namespace skiplane::bench {

// The scenario as its callers see it. Thread-safe.
class Stage {
 public:
  // Makes `queues` queues; their names begin with `name`.
  Stage(const std::string& name, const BrokerRun& broker, const Options& options, int queues = 1);

  const std::string& queue(size_t number = 0) const { return queues_[number % queues_.size()]; }
  size_t queues() const { return queues_.size(); }
  const Options& options() const { return options_; }
  const BrokerRun& broker() const { return broker_; }
  // Callers are spread over the brokers by their number.
  v1::BrokerService::Stub& stub(size_t number = 0) const { return *stubs_[number % stubs_.size()]; }

  // Gives an Enqueue or a Lease an id of its own, unless the options say otherwise.
  template <typename Request>
  void SetId(Request& request) const {
    const bool is_lease = std::is_same_v<Request, v1::LeaseRequest>;
    const bool has_id = is_lease ? options_.lease_ids : options_.enqueue_ids;
    if (has_id) request.set_request_id(NewRequestId());
  }

  // Callers stop after the cycle during which this turns true.
  bool is_over() const { return is_over_; }
  // Only what happens while this is true goes into the latencies.
  bool is_measured() const { return is_measured_; }

  // Tasks that have come to their end.
  void Count(int64_t tasks);
  int64_t count() const { return tasks_; }

  // What the payload of a leased task says of itself. If it is not as it was made, the scenario is
  // over, and the program fails.
  std::optional<Payload> Read(absl::string_view payload);

  // A call failed: the scenario is over, and the program fails.
  void Fail(const std::string& what, const grpc::Status& status);

  // Warms up, measures, and turns is_over; shows progress on standard error. The latencies are the
  // caller's to fill in.
  Figures Measure();
  void WarmUp();         // the first half of Measure
  Figures MeasureNow();  // the second
  // The same without a warm-up, until `tasks` have come to their end.
  Figures MeasureUntil(int64_t tasks);

 private:
  // Returns early if the load failed or reached its goal.
  void ShowProgress(const char* phase, absl::Duration duration);
  Figures MeasureFor(absl::Duration duration);

  const std::string name_;
  const BrokerRun& broker_;
  const Options& options_;
  std::vector<std::string> queues_;
  std::vector<std::unique_ptr<v1::BrokerService::Stub>> stubs_;
  std::vector<double> per_second_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_measured_{false};
  std::atomic<int64_t> tasks_{0};
  std::atomic<int64_t> goal_{std::numeric_limits<int64_t>::max()};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
};

}  // namespace skiplane::bench
