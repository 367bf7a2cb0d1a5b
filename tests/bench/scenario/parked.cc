// Ten thousand Lease calls that wait on an idle queue.
#include <grpcpp/client_context.h>

#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_stubs.h"
#include "tests/bench/stage.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kParked = 10'000;
constexpr int kWaitSeconds = 60;

// A call that waits, and waits again when its time has passed, until the stage is over.
class Waiting {
 public:
  Waiting(Stage& stage, v1::BrokerService::Stub& stub, size_t number, std::latch& ended)
      : stage_(stage), stub_(stub), ended_(ended) {
    request_.add_queues()->set_name(stage.queue());
    request_.set_worker_id(absl::StrCat("parked-", number));
    request_.set_max_tasks(1);
    request_.mutable_wait()->set_seconds(kWaitSeconds);
  }

  void Start() {
    stage_.SetId(request_);
    context_ = std::make_unique<grpc::ClientContext>();
    stub_.async()->Lease(context_.get(), &request_, &response_, [this](const grpc::Status& status) {
      if (!stage_.is_over() && status.ok()) return Start();
      if (!stage_.is_over()) stage_.Fail("Lease", status);
      ended_.count_down();
    });
  }

  // The stage must be over.
  void Cut() { context_->TryCancel(); }

 private:
  Stage& stage_;
  v1::BrokerService::Stub& stub_;
  std::latch& ended_;
  v1::LeaseRequest request_;
  v1::LeaseResponse response_;
  std::unique_ptr<grpc::ClientContext> context_;
};

int64_t ResidentBytes(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  for (std::string word; file >> word;) {
    int64_t kilobytes = 0;
    if (word == "VmRSS:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// Statements per second that all connections of the database run, vacuum's and upkeep's included.
class StatementRate {
 public:
  explicit StatementRate(const BrokerRun& broker) : broker_(broker) {}

  void Begin() { begin_ = Count(); }
  // Without our own: reading the WAL position twice, and this.
  double End(absl::Duration time) const {
    constexpr int kOwn = 3;
    return static_cast<double>(Count() - begin_ - kOwn) / absl::ToDoubleSeconds(time);
  }

 private:
  int64_t Count() const {
    return broker_.SqlNumber(
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
  }

  const BrokerRun& broker_;
  int64_t begin_ = 0;
};

absl::Duration TimeOf(const Figures& figures) { return figures.end.time - figures.begin.time; }

}  // namespace

// The same stretch of time without and with the waiting calls: the difference is theirs.
void RunParked(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  StatementRate rate(*broker);
  rate.Begin();
  const Figures idle = Stage(absl::StrCat(name, "-none"), *broker, bench.options()).MeasureNow();
  const double idle_rate = rate.End(TimeOf(idle));

  Options options = bench.options();
  options.warmup = absl::Seconds(12);  // until all are parked, and PostgreSQL has counted how
  Stage stage(name, *broker, options);
  const auto count = static_cast<size_t>(bench.Scaled(kParked));
  const ManyStubs stubs(broker->addresses().front(), count);
  std::latch ended(static_cast<ptrdiff_t>(count));
  const int64_t bytes_before = ResidentBytes(broker->pid());
  std::vector<std::unique_ptr<Waiting>> all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(std::make_unique<Waiting>(stage, stubs.stub(i), i, ended));
    all.back()->Start();
  }
  stage.WarmUp();
  rate.Begin();
  Figures figures = stage.MeasureNow();
  const double parked_rate = rate.End(TimeOf(figures));
  const int64_t bytes = ResidentBytes(broker->pid()) - bytes_before;
  for (const auto& waiting : all) waiting->Cut();
  ended.wait();
  figures.extras = {{"parked", static_cast<double>(count)},
                    {"bytes_each", static_cast<double>(bytes) / static_cast<double>(count)},
                    {"broker_cpu_percent", CpuPercent(figures, &Meters::broker)},
                    {"broker_cpu_percent_none", CpuPercent(idle, &Meters::broker)},
                    {"postgres_cpu_percent", CpuPercent(figures, &Meters::postgres)},
                    {"postgres_cpu_percent_none", CpuPercent(idle, &Meters::postgres)},
                    {"queries_per_s", parked_rate},
                    {"queries_per_s_none", idle_rate}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
