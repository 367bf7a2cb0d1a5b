#include "tests/bench/stage.h"

#include <unistd.h>

#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/bench/channel.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr absl::Duration kAtMost = absl::Minutes(5);  // of what ends by itself

void MakeQueue(const std::shared_ptr<grpc::Channel>& channel, const std::string& name,
               const Options& options) {
  v1::CreateQueueRequest request;
  request.set_name(name);
  v1::QueueSettings& settings = *request.mutable_settings();
  settings.set_history(options.history ? v1::HISTORY_POLICY_ALL : v1::HISTORY_POLICY_NONE);
  settings.set_packing(options.packing ? v1::PACKING_AUTOMATIC : v1::PACKING_OFF);
  v1::CreateQueueResponse response;
  grpc::ClientContext context;
  const grpc::Status status =
      v1::AdminService::NewStub(channel)->CreateQueue(&context, request, &response);
  testing::Require(status.ok(), absl::StrCat("CreateQueue: ", status.error_message()));
}

}  // namespace

Stage::Stage(const std::string& name, const BrokerRun& broker, const Options& options, int queues)
    : name_(name), broker_(broker), options_(options) {
  for (const std::string& address : broker.addresses()) {
    const auto channel = KeptChannel(address, broker.credentials());
    stubs_.push_back(v1::BrokerService::NewStub(channel));
    for (int i = 0; stubs_.size() == 1 && i < queues; ++i) {
      queues_.push_back(queues == 1 ? name : absl::StrCat(name, "-", i));
      MakeQueue(channel, queues_.back(), options);
    }
  }
}

void Stage::Fail(const std::string& what, const grpc::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.empty()) {
    failure_ = absl::StrCat(what, ": ", status.error_code(), " ", status.error_message());
  }
  is_over_ = true;
  changed_.notify_all();
}

std::optional<Payload> Stage::Read(absl::string_view payload) {
  const std::optional<Payload> read = ReadPayload(payload);
  if (!read) Fail("Lease", {grpc::INTERNAL, "a payload is not as it was made"});
  return read;
}

Figures Stage::Measure() {
  WarmUp();
  return MeasureNow();
}

void Stage::WarmUp() { ShowProgress("warm-up", options_.warmup); }

Figures Stage::MeasureNow() { return MeasureFor(options_.seconds); }

Figures Stage::MeasureUntil(int64_t tasks) {
  goal_ = tasks;
  return MeasureFor(kAtMost);
}

Figures Stage::MeasureFor(absl::Duration duration) {
  Figures figures;
  figures.scenario = name_;
  is_measured_ = true;
  per_second_.clear();
  figures.begin = ReadMeters(broker_, tasks_);
  ShowProgress("measure", duration);
  figures.end = ReadMeters(broker_, tasks_);
  is_measured_ = false;
  is_over_ = true;
  figures.per_second = per_second_;
  const std::lock_guard<std::mutex> lock(mutex_);
  testing::Require(failure_.empty(), failure_);
  return figures;
}

void Stage::Count(int64_t tasks) {
  const int64_t before = tasks_.fetch_add(tasks);
  if (before >= goal_ || before + tasks < goal_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  changed_.notify_all();
}

void Stage::ShowProgress(const char* phase, absl::Duration duration) {
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  const absl::Time begin = absl::Now();
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_done = [this] { return !failure_.empty() || tasks_ >= goal_; };
  for (absl::Duration done; done < duration && !is_done(); done = absl::Now() - begin) {
    const int64_t tasks_before = tasks_;
    const absl::Duration step = std::min(absl::Seconds(1), duration - done);
    const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(step);
    changed_.wait_until(lock, until, is_done);
    per_second_.push_back(static_cast<double>(tasks_ - tasks_before) /
                          absl::ToDoubleSeconds(absl::Now() - begin - done));
    std::cerr << absl::StrFormat(
        "%s%s: %s %.0f of %.0f s, %.0f tasks/s%s", is_terminal ? "\r\033[K" : "", name_, phase,
        absl::ToDoubleSeconds(done + step), absl::ToDoubleSeconds(duration), per_second_.back(),
        is_terminal ? "" : "\n");
  }
  if (is_terminal) std::cerr << "\r\033[K";
}

}  // namespace skiplane::bench
