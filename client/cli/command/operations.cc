// skiplane operations: changes of many tasks that the brokers work on.
#include "client/cli/command/bulk.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ListOptions {
  std::optional<int> limit{};
};

struct OperationOptions {
  std::string operation_id{};
};

absl::Status List(Session& session, const ListOptions& options) {
  return ShowPages<v1::ListBulkOperationsRequest, v1::ListBulkOperationsResponse>(
      session, {}, &AdminMethods::ListBulkOperations,
      [](const v1::ListBulkOperationsResponse& page) { return page.operations(); },
      {{"OPERATION", "operation_id"},
       {"STATE", "state"},
       {"QUEUE", "filter.queue"},
       {"DRY RUN", "dry_run"},
       {"LOOKED AT", "scanned_count"},
       {"OF ABOUT", "total_estimate"},
       {"MATCHED", "matched_count"},
       {"CHANGED", "changed_count"},
       {"BEGAN", "create_time"},
       {"ACTOR", "actor"},
       {"ACTION", "action"}},
      options.limit.value_or(100));
}

absl::Status Show(Session& session, const OperationOptions& options) {
  v1::GetBulkOperationRequest request;
  request.set_operation_id(options.operation_id);
  const auto answer = session.Call<v1::GetBulkOperationRequest, v1::GetBulkOperationResponse>(
      std::move(request), &AdminMethods::GetBulkOperation);
  if (!answer.ok()) return answer.status();
  return ShowOne(session, answer->operation()), absl::OkStatus();
}

absl::Status Stop(Session& session, const OperationOptions& options) {
  v1::StopBulkOperationRequest request;
  request.set_operation_id(options.operation_id);
  const auto answer = session.Call<v1::StopBulkOperationRequest, v1::StopBulkOperationResponse>(
      std::move(request), &AdminMethods::StopBulkOperation);
  if (!answer.ok()) return answer.status();
  return ShowOne(session, answer->operation()), absl::OkStatus();
}

}  // namespace

void DeclareOperations(CLI::App* app, Plan* plan) {
  CLI::App* const operations =
      AddGroup(app, "operations", "Follows and stops changes of many tasks");
  const auto list_options = std::make_shared<ListOptions>();
  CLI::App* const list = AddView(operations, plan, "list",
                                 "Lists operations of the last week, the latest first.",
                                 list_options, List);
  AddNumber(list, "--limit", &list_options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(list, plan);

  const auto show_options = std::make_shared<OperationOptions>();
  CLI::App* const show = AddView(operations, plan, "show", "Shows how far an operation is.",
                                 show_options, Show);
  AddText(show, "OPERATION", &show_options->operation_id, "Its id").Required();

  const auto stop_options = std::make_shared<OperationOptions>();
  CLI::App* const stop =
      AddCommand(operations, plan, "stop", "Stops an operation; what was done stays done.",
                 stop_options, Stop);
  AddText(stop, "OPERATION", &stop_options->operation_id, "Its id").Required();
}

}  // namespace skiplane::cli
