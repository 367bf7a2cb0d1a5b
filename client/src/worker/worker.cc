#include "skiplane/worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/src/random_id.h"
#include "client/src/worker/crew.h"
#include "client/src/worker/fetcher.h"
#include "client/src/worker/heart.h"
#include "client/src/worker/settler.h"

namespace skiplane {
namespace {

constexpr int kHeldMax = 1000;  // what one heartbeat can name
constexpr absl::Duration kDeliverAtMost = absl::Seconds(5);
constexpr absl::Duration kEndAtMost = absl::Seconds(2);

absl::Status Check(const WorkerOptions& options, const Handler& handler) {
  if (!handler) return absl::InvalidArgumentError("handler is empty");
  if (options.queues.empty() || options.queues.size() > 64) {
    return absl::InvalidArgumentError("queues must be 1 to 64");
  }
  if (options.concurrency < 1 || options.prefetch < 0 ||
      options.concurrency > kHeldMax - options.prefetch) {
    return absl::InvalidArgumentError("concurrency must be 1 to 1000, with prefetch at most 1000");
  }
  if (options.lease_duration < absl::Seconds(1) || options.lease_duration > absl::Hours(12)) {
    return absl::InvalidArgumentError("lease_duration must be 1 s to 12 h");
  }
  if (options.wait < absl::ZeroDuration() || options.wait > absl::Seconds(60)) {
    return absl::InvalidArgumentError("wait must be 0 s to 60 s");
  }
  if (options.stop_grace < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("stop_grace must not be negative");
  }
  if (options.max_tasks < 0) return absl::InvalidArgumentError("max_tasks must not be negative");
  return absl::OkStatus();
}

std::string HostAndPid() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return absl::StrCat(host.data(), ":", getpid());
}

// An idle worker does not beat: each call moves the end of its session ahead.
absl::Duration WaitOf(const WorkerOptions& options) {
  return std::min(options.wait, options.lease_duration / 2);
}

LeaseCall ToLeaseCall(const WorkerOptions& options, const std::string& worker_id) {
  return {.queues = options.queues,
          .strict_order = options.strict_order,
          .worker_id = worker_id,
          .worker_name = options.name.empty() ? HostAndPid() : options.name,
          .wait = options.burst ? absl::ZeroDuration() : WaitOf(options),
          .lease_duration = options.lease_duration};
}

}  // namespace

// Declared in the order in which they need one another; each stops in its own destructor.
class Worker::Parts {
 public:
  Parts(const Client& client, const WorkerOptions& options, Handler handler)
      : client_(client),
        grace_(options.stop_grace),
        worker_id_(internal::RandomId()),
        holdings_(options.concurrency + options.prefetch),
        tally_(options),
        heart_(client, worker_id_, options.lease_duration, holdings_, tally_),
        settler_(client, holdings_, tally_),
        crew_(options.concurrency, std::move(handler), holdings_, settler_, tally_),
        fetcher_(client, ToLeaseCall(options, worker_id_),
                 {.burst = options.burst, .max_tasks = options.max_tasks}, holdings_, tally_) {}

  void Stop() {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    if (std::exchange(is_stopped_, true)) return;
    holdings_.Close();
    fetcher_.Stop();
    // From here on nothing is added and nothing begins: what does not run yet is handed back.
    ReleaseWaiting();
    if (!holdings_.WaitUntilNoneRuns(grace_)) ReleaseAll();
    crew_.Join();
    const absl::Time until = absl::Now() + kDeliverAtMost;
    settler_.Stop(kDeliverAtMost);
    heart_.Stop();
    EndSession(until - absl::Now());
  }

  void EndGrace() { holdings_.EndGrace(); }

  absl::Status WaitForEnd() { return fetcher_.WaitForEnd(); }

  WorkerCounts counts() const { return tally_.counts(); }

 private:
  void ReleaseWaiting() {
    for (const internal::HoldPtr& hold : holdings_.TakeWaiting()) Release(hold);
  }

  void ReleaseAll() {
    for (const internal::HoldPtr& hold : holdings_.All()) Release(hold);
  }

  void Release(const internal::HoldPtr& hold) {
    if (hold->Withdraw()) settler_.Add(hold, Result::Release());
  }

  // By now everything is settled that this worker knows of; what it does not know of goes back.
  void EndSession(absl::Duration at_most) {
    if (at_most <= absl::ZeroDuration()) return;  // there is no broker
    const auto answer = client_.Heartbeat({.worker_id = worker_id_,
                                           .end_session = true,
                                           .timeout = std::min(at_most, kEndAtMost)});
    if (!answer.ok()) tally_.Error(answer.status());
  }

  Client client_;
  const absl::Duration grace_;
  const std::string worker_id_;
  internal::Holdings holdings_;
  internal::Tally tally_;
  internal::Heart heart_;
  internal::Settler settler_;
  internal::Crew crew_;
  internal::Fetcher fetcher_;

  std::mutex stop_mutex_;
  bool is_stopped_ = false;
};

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(Client client, WorkerOptions options,
                                                      Handler handler) {
  if (const absl::Status status = Check(options, handler); !status.ok()) return status;
  return std::unique_ptr<Worker>(
      new Worker(std::make_unique<Parts>(client, options, std::move(handler))));
}

Worker::Worker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Worker::~Worker() { Stop(); }

void Worker::Stop() { parts_->Stop(); }

void Worker::EndGrace() { parts_->EndGrace(); }

absl::Status Worker::WaitForEnd() { return parts_->WaitForEnd(); }

WorkerCounts Worker::counts() const { return parts_->counts(); }

}  // namespace skiplane
