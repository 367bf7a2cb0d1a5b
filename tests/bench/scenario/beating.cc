// Ten thousand worker sessions on Work streams, each with a task and three heartbeats per lease
// duration of 30 s.
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/metronome.h"
#include "tests/bench/many_stubs.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kSessions = 10'000;
constexpr absl::Duration kLease = absl::Seconds(30);

// A worker that is given one task and keeps it.
class Session final : public grpc::ClientBidiReactor<v1::WorkRequest, v1::WorkResponse> {
 public:
  // `begun` and `ended` are counted down once each.
  Session(Stage& stage, v1::BrokerService::Stub& stub, size_t number, std::latch& begun,
          std::latch& ended)
      : stage_(stage), begun_(begun), ended_(ended) {
    v1::WorkHello& hello = *request_.mutable_hello();
    hello.set_worker_id(absl::StrCat(stage.queue(), "-", number));
    hello.add_queues()->set_name(stage.queue());
    hello.mutable_lease_duration()->set_seconds(absl::ToInt64Seconds(kLease));
    request_.set_credit(1);
    stub.async()->Work(&context_, this);
    AddHold();  // heartbeats come from another thread
    StartWrite(&request_);
    StartRead(&response_);
    StartCall();
  }

  void Beat() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_writing_ || lease_token_.empty()) return;
      is_writing_ = true;
      request_.Clear();
      v1::WorkHeartbeat& beat = *request_.mutable_heartbeat();
      beat.set_number(++beats_);
      beat.add_leases()->set_lease_token(lease_token_);
    }
    StartWrite(&request_);
  }

  // The stage must be over, and nobody calls Beat any more.
  void Cut() {
    context_.TryCancel();
    RemoveHold();
  }

 private:
  void OnWriteDone(bool) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_writing_ = false;
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      if (!stage_.is_over()) stage_.Fail("Work", {grpc::UNAVAILABLE, "a stream ended"});
      return Begun("");
    }
    if (!response_.tasks().empty()) Begun(response_.tasks(0).lease_token());
    for (const v1::WorkHeartbeatResult& beat : response_.heartbeats()) {
      const auto& leases = beat.response().results();
      const bool is_held = leases.size() == 1 && leases[0].state() == v1::LEASE_STATE_HELD;
      if (is_held) stage_.Count(1);
      if (!is_held) stage_.Fail("Work", {grpc::INTERNAL, "a lease is not held"});
    }
    StartRead(&response_);
  }

  void Begun(const std::string& lease_token) {
    if (has_begun_) return;
    has_begun_ = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      lease_token_ = lease_token;
    }
    begun_.count_down();
  }

  void OnDone(const grpc::Status&) override { ended_.count_down(); }

  Stage& stage_;
  std::latch& begun_;
  std::latch& ended_;
  grpc::ClientContext context_;
  v1::WorkRequest request_;
  v1::WorkResponse response_;
  bool has_begun_ = false;
  std::mutex mutex_;
  bool is_writing_ = true;
  std::string lease_token_;
  int64_t beats_ = 0;
};

}  // namespace

void RunBeating(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  const auto count = static_cast<size_t>(bench.Scaled(kSessions));
  EnqueueAll(stage, static_cast<int64_t>(count));
  const ManyStubs stubs(broker->addresses().front(), count);
  std::latch begun(static_cast<ptrdiff_t>(count));
  std::latch ended(static_cast<ptrdiff_t>(count));
  std::vector<std::unique_ptr<Session>> sessions;
  for (size_t i = 0; i < count; ++i) {
    sessions.push_back(std::make_unique<Session>(stage, stubs.stub(i), i, begun, ended));
  }
  begun.wait();
  std::thread beating([&] {
    BeatInTurn(stage, count, kLease, [&sessions](size_t number) { sessions[number]->Beat(); });
  });
  Figures figures = stage.Measure();
  beating.join();
  for (const auto& session : sessions) session->Cut();
  ended.wait();
  figures.extras = {{"sessions", static_cast<double>(count)},
                    {"broker_cpu_percent", CpuPercent(figures, &Meters::broker)},
                    {"postgres_cpu_percent", CpuPercent(figures, &Meters::postgres)}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
