// The scenario of operators at a queue that has grown: their looks, a change of a million tasks
// and the end of a day's history, the last two while workers go on.
#include <grpcpp/client_context.h>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/channel.h"
#include "tests/bench/scenario/admin_reads.h"
#include "tests/bench/scenario/admin_rows.h"
#include "tests/bench/load/steady_work.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kWaiting = 1'000'000;
constexpr int64_t kFailed = 100'000;
constexpr int64_t kHistory = 10'000'000;
constexpr int kQueues = 2000;
constexpr int kNewPriority = 3;
constexpr int kTries = 100;

struct Span {
  absl::Time begin;
  absl::Time end;
};

// The stretches of the workers' time: each change is beside the usual work before it.
struct Course {
  Span usual;
  Span bulk;
  Span quiet;
  Span drop;
  Span around_drop;  // and what follows it
};

void MakeQueue(v1::AdminService::Stub& stub, const std::string& name, int stages) {
  v1::CreateQueueRequest request;
  request.set_name(name);
  for (int i = 0; i < stages; ++i) {
    request.mutable_settings()->add_stages()->set_name(absl::StrCat("stage", i));
  }
  grpc::ClientContext context;
  v1::CreateQueueResponse response;
  const grpc::Status status = stub.CreateQueue(&context, request, &response);
  testing::Require(status.ok(), absl::StrCat("CreateQueue: ", status.error_message()));
}

Span LetPass(const char* what, absl::Duration duration) {
  std::cerr << "admin: " << what << "\n";
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  const absl::Time begin = absl::Now();
  never.wait_for(lock, absl::ToChronoNanoseconds(duration), [] { return false; });
  return {begin, absl::Now()};
}

// Gives all tasks that FillForAdmin made another priority; a few may have been leased before.
Span Prioritize(v1::AdminService::Stub& stub, const std::string& queue, int64_t tasks) {
  std::cerr << "admin: a new priority for " << tasks << " tasks\n";
  const absl::Time begin = absl::Now();
  v1::StartBulkOperationRequest start;
  start.mutable_filter()->set_queue(queue);
  start.mutable_filter()->set_priority(kAdminPriority);
  start.mutable_action()->set_set_priority(kNewPriority);
  grpc::ClientContext context;
  v1::StartBulkOperationResponse started;
  grpc::Status status = stub.StartBulkOperation(&context, start, &started);
  v1::BulkOperation operation = started.operation();
  while (status.ok() && operation.state() == v1::BULK_OPERATION_STATE_RUNNING) {
    v1::GetBulkOperationRequest get;
    get.set_operation_id(operation.operation_id());
    get.mutable_wait()->set_seconds(60);
    grpc::ClientContext get_context;
    v1::GetBulkOperationResponse got;
    status = stub.GetBulkOperation(&get_context, get, &got);
    operation = got.operation();
  }
  testing::Require(status.ok(), absl::StrCat("the bulk operation: ", status.error_message()));
  testing::Require(operation.changed_count() > tasks * 99 / 100,
                   absl::StrCat(operation.changed_count(), " tasks were changed"));
  return {begin, absl::Now()};
}

// The day of `partition` is over, and is dropped as upkeep does it: tried again while callers are
// in the way.
Span DropDay(const BrokerRun& broker, const std::string& partition) {
  broker.Sql(absl::StrCat("ALTER TABLE skiplane.", partition, " RENAME TO history_20000101"));
  constexpr char kDrop[] = R"(DO $$ BEGIN
    PERFORM skiplane.drop_partition();
  EXCEPTION WHEN lock_not_available THEN NULL; END $$;
  SELECT (to_regclass('skiplane.history_20000101') IS NULL)::int)";
  std::cerr << "admin: the day " << partition << " is dropped\n";
  const absl::Time begin = absl::Now();
  int tries = 1;
  while (broker.SqlNumber(kDrop) == 0) {
    testing::Require(++tries < kTries, "the partition cannot be dropped");
  }
  std::cerr << "admin: dropped at try " << tries << "\n";
  return {begin, absl::Now()};
}

double Milliseconds(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

std::vector<std::pair<std::string, double>> ChangesOf(const SteadyWork& work, int64_t tasks,
                                                      const Course& course) {
  const auto p99 = [&work](const Span& span) {
    return work.LeasesOf(span.begin, span.end).PercentileMs(0.99);
  };
  const auto slowest = [&work](const Span& span) {
    return work.LeasesOf(span.begin, span.end).PercentileMs(1.0);
  };
  const auto gap = [&work](const Span& span) {
    return Milliseconds(work.LongestGap(span.begin, span.end));
  };
  return {{"usual_lease_p99_ms", p99(course.usual)},
          {"bulk_lease_p99_ms", p99(course.bulk)},
          {"bulk_lease_p99_share", p99(course.bulk) / p99(course.usual)},
          {"bulk_tasks_per_s",
           static_cast<double>(tasks) /
               absl::ToDoubleSeconds(course.bulk.end - course.bulk.begin)},
          {"drop_ms", Milliseconds(course.drop.end - course.drop.begin)},
          {"drop_slowest_lease_ms", slowest(course.around_drop)},
          {"drop_longest_gap_ms", gap(course.around_drop)},
          {"before_drop_slowest_lease_ms", slowest(course.quiet)},
          {"before_drop_longest_gap_ms", gap(course.quiet)}};
}

}  // namespace

void RunAdmin(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  const auto stub = v1::AdminService::NewStub(KeptChannel(broker->addresses().front()));
  MakeQueue(*stub, name, kAdminStages);
  const int queues = bench.options().is_quick ? 20 : kQueues;
  for (int i = 0; i < queues; ++i) MakeQueue(*stub, AdminQueueName(i), 0);
  AdminRows rows = FillForAdmin(*broker, name, bench.Scaled(kWaiting), bench.Scaled(kFailed),
                                      bench.Scaled(kHistory));
  rows.queues = queues;
  Figures figures;
  figures.scenario = name;
  figures.parts = ReadAsOperator(*stub, name, rows, bench.options().is_quick ? 20 : 200);

  const absl::Duration stretch = bench.options().seconds;
  SteadyWork work(*broker, name, absl::StrCat("stage", kAdminStages - 1));
  Course course;
  LetPass("workers begin", bench.options().warmup);
  course.usual = LetPass("usual work", stretch);
  figures.begin = ReadMeters(*broker, work.count());
  course.bulk = Prioritize(*stub, name, rows.waiting);
  figures.end = ReadMeters(*broker, work.count());
  course.quiet = LetPass("usual work again", stretch / 2);
  course.drop = DropDay(*broker, rows.partition);
  course.around_drop = {course.drop.begin, LetPass("and after the drop", stretch / 2).end};
  work.Stop();

  figures.latencies = work.LeasesOf(course.bulk.begin, course.bulk.end);
  figures.extras = ChangesOf(work, rows.waiting, course);
  figures.extras.emplace_back("rows", static_cast<double>(rows.history));
  figures.extras.emplace_back("waiting", static_cast<double>(rows.waiting));
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
