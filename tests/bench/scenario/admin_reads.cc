#include "tests/bench/scenario/admin_reads.h"

#include <grpcpp/client_context.h>

#include <functional>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

class Reader {
 public:
  Reader(v1::AdminService::Stub& stub, std::string queue, const AdminRows& rows, int calls)
      : stub_(stub), queue_(std::move(queue)), rows_(rows), calls_(calls) {}

  std::vector<std::pair<std::string, Latencies>> Run() {
    ReadPages();
    ReadNewerFilters();
    ReadReports();
    ReadOverviews();
    ReadTasks();
    return std::move(parts_);
  }

 private:
  using SetFilter = std::function<void(v1::TaskFilter&, int call)>;

  template <typename Response, typename Request, typename Method>
  Response Call(Method method, const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub_.*method)(&context, request, &response);
    testing::Require(status.ok(), absl::StrCat(parts_.back().first, ": ", status.error_message()));
    return response;
  }

  // `read` is given the number of its call, so that calls can differ.
  void Measure(const std::string& name, const std::function<void(int call)>& read) {
    Latencies& latencies = parts_.emplace_back(name, Latencies()).second;
    for (int call = 0; call < calls_; ++call) {
      const absl::Time begin = absl::Now();
      read(call);
      latencies.Add(absl::Now() - begin);
    }
    std::cerr << absl::StrFormat("admin: %s p99 %.1f ms\n", name, latencies.PercentileMs(0.99));
  }

  // A page of 100; where few tasks match, it looks at as many as a page may. No page may be without
  // what `is_found` says, lest a filter be fast because it is wrong.
  void ReadPage(const std::string& name, bool is_found, const SetFilter& set,
                const std::string& token = "") {
    Measure(name, [&](int call) {
      v1::ListTasksRequest request;
      request.mutable_filter()->set_queue(queue_);
      set(*request.mutable_filter(), call);
      request.set_page_token(token);
      const auto page = Call<v1::ListTasksResponse>(&v1::AdminService::Stub::ListTasks, request);
      testing::Require((page.tasks_size() > 0) == is_found, absl::StrCat(name, " found ",
                                                                        page.tasks_size()));
      next_page_ = page.next_page_token();
    });
  }

  static SetFilter In(v1::TaskState state) {
    return [state](v1::TaskFilter& filter, int) { filter.add_states(state); };
  }

  void ReadPages() {
    ReadPage("list_ready", true, In(v1::TASK_STATE_READY));
    ReadPage("list_next_page", true, In(v1::TASK_STATE_READY), std::string(next_page_));
    ReadPage("list_scheduled", true, In(v1::TASK_STATE_SCHEDULED));
    ReadPage("list_failed", true, In(v1::TASK_STATE_FAILED));
    ReadPage("list_succeeded", true, In(v1::TASK_STATE_SUCCEEDED));
    ReadPage("list_stage", true, [](v1::TaskFilter& filter, int call) {
      filter.set_stage(absl::StrCat("stage", call % kAdminStages));
    });
    ReadPage("list_key", true, [this](v1::TaskFilter& filter, int) {
      filter.set_key_prefix(absl::StrCat("order-", rows_.first_waiting / 1000));
    });
    ReadPage("list_header", true, [](v1::TaskFilter& filter, int call) {
      (*filter.mutable_headers())["tenant"] = absl::StrCat("t", call % kAdminTenants);
    });
    ReadPage("list_group", true, [](v1::TaskFilter& filter, int call) {
      filter.set_fingerprint(absl::StrCat("print-", call % kAdminGroups));
    });
    ReadPage("list_failed_group", true, [](v1::TaskFilter& filter, int call) {
      filter.add_states(v1::TASK_STATE_FAILED);
      filter.set_fingerprint(absl::StrCat("print-", call % kAdminGroups));
    });
    ReadPage("list_nothing", false, [](v1::TaskFilter& filter, int) {
      filter.add_states(v1::TASK_STATE_SUCCEEDED);
      filter.set_key_prefix("never");
    });
  }

  void ReadNewerFilters() {
    ReadPage("list_error_type", true, [](v1::TaskFilter& filter, int) {
      filter.set_error_type("Timeout");
    });
    ReadPage("list_attempts", true, [](v1::TaskFilter& filter, int) {
      filter.set_min_attempts(1);
    });
    ReadPage("list_no_text", false, [](v1::TaskFilter& filter, int) {
      filter.set_payload_text("nobody wrote this");
    });
    ReadPage("list_ids", true, [this](v1::TaskFilter& filter, int) {
      for (int i = 0; i < calls_; ++i) {
        filter.add_task_ids(IdOf(rows_.first_waiting, rows_.waiting, i));
      }
    });
    for (const v1::TaskState state : {v1::TASK_STATE_READY, v1::TASK_STATE_SUCCEEDED}) {
      ReadSeveral(absl::StrCat("list_newest_of_20_", state == v1::TASK_STATE_READY
                                                         ? "ready" : "succeeded"), state);
    }
  }

  // The newest of this queue and of 19 that are empty.
  void ReadSeveral(const std::string& name, v1::TaskState state) {
    Measure(name, [&](int) {
      v1::ListTasksRequest request;
      request.add_queues(queue_);
      for (int i = 0; i < 19; ++i) request.add_queues(AdminQueueName(i));
      request.mutable_filter()->add_states(state);
      request.set_order(v1::LIST_ORDER_NEWEST_FIRST);
      const auto page = Call<v1::ListTasksResponse>(&v1::AdminService::Stub::ListTasks, request);
      testing::Require(page.tasks_size() > 0, absl::StrCat(name, " found nothing"));
    });
  }

  void ReadOverviews() {
    Measure("overview", [this](int) {
      v1::ListQueueSummariesRequest request;
      request.set_page_size(10000);
      const auto all = Call<v1::ListQueueSummariesResponse>(
          &v1::AdminService::Stub::ListQueueSummaries, request);
      testing::Require(all.summaries_size() > rows_.queues, "queues are missing");
    });
    Measure("error_groups_of_all", [this](int) {
      Call<v1::ListErrorGroupsResponse>(&v1::AdminService::Stub::ListErrorGroups,
                                        v1::ListErrorGroupsRequest());
    });
    Measure("schedules_of_all", [this](int) {
      Call<v1::ListSchedulesResponse>(&v1::AdminService::Stub::ListSchedules,
                                      v1::ListSchedulesRequest());
    });
    Measure("workers", [this](int) {
      Call<v1::ListWorkersResponse>(&v1::AdminService::Stub::ListWorkers,
                                    v1::ListWorkersRequest());
    });
    Measure("server_info", [this](int) {
      Call<v1::GetServerInfoResponse>(&v1::AdminService::Stub::GetServerInfo,
                                      v1::GetServerInfoRequest());
    });
  }

  void ReadReports() {
    Measure("error_groups", [this](int) {
      v1::ListErrorGroupsRequest request;
      request.set_queue(queue_);
      Call<v1::ListErrorGroupsResponse>(&v1::AdminService::Stub::ListErrorGroups, request);
    });
    Measure("statistics_day", [this](int) { ReadStatistics(absl::Hours(24)); });
    Measure("statistics_month", [this](int) { ReadStatistics(absl::Hours(30 * 24)); });
  }

  void ReadStatistics(absl::Duration back) {
    v1::GetStatisticsRequest request;
    request.set_queue(queue_);
    request.mutable_start_time()->set_seconds(absl::ToUnixSeconds(absl::Now() - back));
    const auto hours =
        Call<v1::GetStatisticsResponse>(&v1::AdminService::Stub::GetStatistics, request);
    testing::Require(hours.hours_size() > 100, "hours are missing");
  }

  void ReadTasks() {
    Measure("explain", [this](int call) {
      v1::ExplainTaskRequest request;
      request.set_task_id(IdOf(rows_.first_waiting, rows_.waiting, call));
      Call<v1::ExplainTaskResponse>(&v1::AdminService::Stub::ExplainTask, request);
    });
    ReadTask("get_waiting", rows_.first_waiting, rows_.waiting);
    ReadTask("get_failed", rows_.first_failed, rows_.failed);
    ReadTask("get_succeeded", rows_.first_history, rows_.history);
  }

  void ReadTask(const std::string& name, int64_t first, int64_t count) {
    Measure(name, [&](int call) {
      v1::GetTaskRequest request;
      request.set_task_id(IdOf(first, count, call));
      request.set_attempts_page_size(10);
      Call<v1::GetTaskResponse>(&v1::AdminService::Stub::GetTask, request);
    });
  }

  // The calls are spread over all tasks, the last one included; every id ends in 0.
  std::string IdOf(int64_t first, int64_t count, int call) const {
    return absl::StrCat(rows_.lane, "-", first + (call + 1) * (count / 20 - 1) / calls_ * 20);
  }

  v1::AdminService::Stub& stub_;
  const std::string queue_;
  const AdminRows& rows_;
  const int calls_;
  std::string next_page_;
  std::vector<std::pair<std::string, Latencies>> parts_;
};

}  // namespace

std::vector<std::pair<std::string, Latencies>> ReadAsOperator(v1::AdminService::Stub& stub,
                                                              const std::string& queue,
                                                              const AdminRows& rows, int calls) {
  return Reader(stub, queue, rows, calls).Run();
}

}  // namespace skiplane::bench
