#include "skiplane/worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/src/access.h"
#include "client/src/convert_task.h"
#include "client/src/random_id.h"
#include "client/src/worker/check.h"
#include "client/src/worker/command.h"
#include "client/src/worker/crew.h"
#include "client/src/worker/link.h"
#include "client/src/worker/settler.h"
#include "client/src/worker/unary_work.h"

namespace skiplane {
namespace {

constexpr absl::Duration kDeliverAtMost = absl::Seconds(5);
constexpr absl::Duration kEndAtMost = absl::Seconds(2);
constexpr char kOwnVersion[] = "skiplane-cpp/" SKIPLANE_VERSION;

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
          .client_version = options.version.empty() ? kOwnVersion : options.version,
          .concurrency = options.concurrency,
          .wait = options.burst ? absl::ZeroDuration() : WaitOf(options),
          .lease_duration = options.lease_duration};
}

}  // namespace

// Declared in the order in which they need one another; each stops in its own destructor.
class Worker::Parts {
 public:
  Parts(const Client& client, const WorkerOptions& options, Handler handler)
      : client_(client),
        options_(options),
        call_(ToLeaseCall(options, internal::RandomId())),
        holdings_(options.concurrency + options.prefetch),
        tally_(options),
        command_(holdings_, options.on_command),
        settler_(client, holdings_, tally_),
        link_(std::make_shared<internal::Link>(internal::Access::ConnectionOf(client), Plan(),
                                               command_, holdings_, tally_, settler_)),
        unary_(client, call_, {.burst = options.burst, .max_tasks = options.max_tasks}, *link_,
               command_, holdings_, tally_),
        crew_(options.concurrency, std::move(handler), holdings_, *link_, tally_),
        obeying_([this] {
          if (command_.WaitForStop()) Stop();
        }) {
    // A stream does not say that nothing is ready.
    options.burst ? unary_.Begin() : link_->Begin();
  }

  ~Parts() {
    command_.Close();
    obeying_.join();
  }

  void Stop() {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    if (std::exchange(is_stopped_, true)) return;
    holdings_.Close();
    unary_.StopFetching();
    // From here on nothing begins: what does not run yet is handed back, and what still comes.
    link_->StopTaking();
    if (!holdings_.WaitUntilNoneRuns(options_.stop_grace)) ReleaseAll();
    crew_.Join();
    const absl::Time until = absl::Now() + kDeliverAtMost;
    link_->WaitUntilSettled(kDeliverAtMost);
    link_->Close();
    settler_.Stop(until - absl::Now());
    unary_.StopHeart();
    EndSession(until - absl::Now());
  }

  void EndGrace() { holdings_.EndGrace(); }

  absl::Status WaitForEnd() {
    const absl::Status end = options_.burst ? unary_.WaitForEnd() : WaitForTasks();
    const bool has_failed = !end.ok() && !absl::IsCancelled(end);
    if (has_failed || !command_.IsStop()) return end;
    return absl::CancelledError("an operator asked the worker to stop");
  }

  WorkerCounts counts() const { return tally_.counts(); }

 private:
  internal::LinkPlan Plan() {
    return {.hello = internal::ToHello(call_),
            .lease_duration = options_.lease_duration,
            .max_tasks = options_.max_tasks,
            .on_unary = [this] { unary_.Begin(); }};
  }

  absl::Status WaitForTasks() {
    const int64_t tasks =
        options_.max_tasks > 0 ? options_.max_tasks : std::numeric_limits<int64_t>::max();
    return holdings_.WaitUntilEmpty(tasks) ? absl::OkStatus()
                                           : absl::CancelledError("the worker was stopped");
  }

  void ReleaseAll() {
    for (const internal::HoldPtr& hold : holdings_.All()) {
      if (hold->Withdraw()) link_->Add(hold, Result::Release());
    }
  }

  // By now everything is settled that this worker knows of; what it does not know of goes back.
  void EndSession(absl::Duration at_most) {
    if (at_most <= absl::ZeroDuration()) return;  // there is no broker
    const auto answer = client_.Heartbeat({.worker_id = call_.worker_id,
                                           .end_session = true,
                                           .timeout = std::min(at_most, kEndAtMost)});
    if (!answer.ok()) tally_.Error(answer.status());
  }

  Client client_;
  const WorkerOptions options_;
  const LeaseCall call_;
  internal::Holdings holdings_;
  internal::Tally tally_;
  internal::Command command_;
  internal::Settler settler_;
  const std::shared_ptr<internal::Link> link_;
  internal::UnaryWork unary_;
  internal::Crew crew_;

  std::mutex stop_mutex_;
  bool is_stopped_ = false;
  std::thread obeying_;  // stops the worker when an operator asks for it
};

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(Client client, WorkerOptions options,
                                                      Handler handler) {
  if (const absl::Status status = internal::Check(options, handler); !status.ok()) return status;
  return std::unique_ptr<Worker>(
      new Worker(std::make_unique<Parts>(client, options, std::move(handler))));
}

absl::StatusOr<std::unique_ptr<RunningWorker>> Client::StartWorker(WorkerOptions options,
                                                                   Handler handler) {
  return Worker::Start(*this, std::move(options), std::move(handler));
}

Worker::Worker(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Worker::~Worker() { Stop(); }

void Worker::Stop() { parts_->Stop(); }

void Worker::EndGrace() { parts_->EndGrace(); }

absl::Status Worker::WaitForEnd() { return parts_->WaitForEnd(); }

WorkerCounts Worker::counts() const { return parts_->counts(); }

}  // namespace skiplane
