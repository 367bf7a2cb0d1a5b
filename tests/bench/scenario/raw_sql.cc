// The broker's statements without a broker: as many connections, as many rows per statement, and
// neither gRPC nor batching nor memory between them.
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/store/enqueue.h"
#include "server/store/lease.h"
#include "server/store/settle.h"
#include "tests/bench/bench.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int kConnections = 4;            // as the broker has by default
constexpr int64_t kLeaseBytes = 16 << 20;  // of one statement
constexpr size_t kTasksPerCall = 100;      // each with a request id, as those of cycle_batch
constexpr size_t kHashBytes = 32;          // of a call's content
constexpr double kRowsPerStatement = 200;  // when cycle_batch did not run before

template <typename T>
T Must(absl::StatusOr<T> value) {
  testing::Require(value.ok(), value.status().ToString());
  return *std::move(value);
}

// One connection in a closed loop: enqueue, lease, ack.
class Loop {
 public:
  Loop(Stage& stage, int64_t lane, size_t rows)
      : stage_(stage), lane_(lane), rows_(rows), random_(std::random_device{}()) {
    pg::ConnectOptions options;
    options.uri = stage.broker().uri();
    session_ = Must(pg::Session::Open(options, nullptr));
    worker_ = NewUuid();
    tasks_.resize(rows);
  }

  void Run() {
    while (!stage_.is_over()) {
      const absl::Time begin = absl::Now();
      Enqueue();
      Ack(Lease());
      if (stage_.is_measured()) cycles.Add(absl::Now() - begin);
    }
  }

  Latencies cycles;

 private:
  void Enqueue() {
    std::vector<store::TaskRow> rows;
    std::vector<store::RequestRow> requests;
    for (size_t i = 0; i < rows_; ++i) {
      if (next_ == end_) {
        next_ = Must(store::NextTaskIds(*session_));
        end_ = next_ + store::kTaskIdBlock;
      }
      tasks_[i].payload = NewPayload();
      rows.push_back({.id = {lane_, next_++}, .task = &tasks_[i], .max_attempts = 10});
      if (!stage_.options().enqueue_ids) continue;
      if (i % kTasksPerCall == 0) {
        requests.push_back({lane_, NewRequestId(), std::string(kHashBytes, 'h'), rows[i].id.id});
      }
      rows[i].call = requests.back().first_id;
    }
    if (requests.empty()) {
      Must(store::Enqueue(*session_, rows));
    } else {
      Must(store::EnqueueOnce(*session_, rows, requests));
    }
  }

  // From behind the last key, as the broker does; from the start when that gave too few.
  store::Leased Lease() {
    ledger_ = NewUuid();
    store::LeaseDemand demand;
    demand.lane = lane_;
    demand.bounds = {bound_};
    store::LeaseCaller& caller = demand.callers.emplace_back();
    caller.session = worker_;
    caller.max_bytes = kLeaseBytes;
    caller.ledger = ledger_;
    if (stage_.options().lease_ids) caller.request_id = NewRequestId();
    demand.slots.assign(rows_, 1);
    store::Leased leased = Must(store::Lease(*session_, demand));
    bound_ = {};
    if (leased.rows.size() == rows_) {
      const model::LeasedTask& last = leased.rows.back().task;
      bound_ = {.schedule_time = last.schedule_time, .id = last.token.task.id};
    }
    return leased;
  }

  void Ack(const store::Leased& leased) {
    if (leased.rows.empty()) return;
    store::SettleBatch batch;
    batch.lane = lane_;
    batch.ledgers = {ledger_};
    for (const store::LeasedRow& row : leased.rows) {
      batch.rows.emplace_back().token = row.task.token;
      if (!stage_.Read(row.task.payload)) return;
    }
    std::ranges::sort(batch.rows, {}, [](const auto& row) { return row.token.task.id; });
    const size_t acked = Must(store::AckByLocation(*session_, batch)).size();
    testing::Require(acked == batch.rows.size(), "a task was not acked");
    stage_.Count(static_cast<int64_t>(acked));
  }

  pg::Uuid NewUuid() {
    const uint64_t words[2] = {random_(), random_()};
    pg::Uuid uuid;
    static_assert(sizeof(words) == sizeof(uuid));
    std::memcpy(&uuid, words, sizeof(uuid));
    return uuid;
  }

  Stage& stage_;
  const int64_t lane_;
  const size_t rows_;
  std::mt19937_64 random_;
  std::unique_ptr<pg::Session> session_;
  model::SessionId worker_{};
  std::vector<model::NewTask> tasks_;
  int64_t next_ = 0;
  int64_t end_ = 0;
  store::Bound bound_;
  pg::Uuid ledger_{};
};

}  // namespace

void RunRawSql(Bench& bench, const std::string& name) {
  BrokerRun& broker = bench.shared();
  Stage stage(name, broker, bench.options());
  const int64_t lane = LaneOf(broker, name);
  const double rows = bench.rows_per_statement > 0 ? bench.rows_per_statement : kRowsPerStatement;
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<std::thread> threads;
  for (int i = 0; i < kConnections; ++i) {
    loops.push_back(std::make_unique<Loop>(stage, lane, static_cast<size_t>(rows)));
  }
  for (const auto& loop : loops) threads.emplace_back([&loop = *loop] { loop.Run(); });
  Figures figures = stage.Measure();
  for (std::thread& thread : threads) thread.join();
  for (const auto& loop : loops) figures.latencies.Merge(loop->cycles);
  figures.extras = {{"connections", kConnections}, {"rows_per_statement", rows}};
  if (bench.batch_tasks_per_s > 0) {
    figures.extras.emplace_back("cycle_batch_share",
                                bench.batch_tasks_per_s / TasksPerSecond(figures));
  }
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
