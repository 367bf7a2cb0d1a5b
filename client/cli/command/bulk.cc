#include "client/cli/command/bulk.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/terminal.h"
#include "client/cli/command/show.h"
#include "client/cli/text/progress_bar.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

constexpr absl::Duration kPollInterval = absl::Milliseconds(300);

absl::StatusOr<v1::BulkOperation> Start(Session& session, const BulkPlan& plan, bool dry_run) {
  v1::StartBulkOperationRequest request;
  *request.mutable_filter() = plan.filter;
  *request.mutable_action() = plan.action;
  request.set_dry_run(dry_run);
  // Short, so that Ctrl-C is heard and the bar is drawn soon.
  internal::ToProto(kPollInterval, request.mutable_wait());
  auto answer = session.Call<v1::StartBulkOperationRequest, v1::StartBulkOperationResponse>(
      std::move(request), &AdminMethods::StartBulkOperation);
  if (!answer.ok()) return answer.status();
  return std::move(*answer->mutable_operation());
}

absl::StatusOr<v1::BulkOperation> Get(Session& session, const std::string& operation_id) {
  v1::GetBulkOperationRequest request;
  request.set_operation_id(operation_id);
  auto answer = session.Call<v1::GetBulkOperationRequest, v1::GetBulkOperationResponse>(
      std::move(request), &AdminMethods::GetBulkOperation);
  if (!answer.ok()) return answer.status();
  return std::move(*answer->mutable_operation());
}

absl::Status Stop(Session& session, const v1::BulkOperation& operation) {
  v1::StopBulkOperationRequest request;
  request.set_operation_id(operation.operation_id());
  const auto answer =
      session.Call<v1::StopBulkOperationRequest, v1::StopBulkOperationResponse>(
          std::move(request), &AdminMethods::StopBulkOperation);
  if (!answer.ok()) return answer.status();
  return Interrupted(absl::StrCat("stopped; ", FormatCount(answer->operation().changed_count()),
                                  " tasks were changed before that"));
}

absl::Status StartAndFollow(Session& session, const BulkPlan& plan) {
  Interrupt interrupt;
  auto operation = Start(session, plan, /*dry_run=*/false);
  if (!operation.ok()) return operation.status();
  return FollowAndTell(session, *std::move(operation), interrupt);
}

absl::StatusOr<v1::BulkOperation> CountMatches(Session& session, const BulkPlan& plan) {
  Interrupt interrupt;
  auto count = Start(session, plan, /*dry_run=*/true);
  if (!count.ok()) return count;
  const absl::Status status = Follow(session, *count, interrupt);
  return status.ok() ? count : status;
}

}  // namespace

std::string Tasks(int64_t count) {
  return absl::StrCat(FormatCount(count), count == 1 ? " task" : " tasks");
}

absl::Status Follow(Session& session, v1::BulkOperation& operation, Interrupt& interrupt) {
  ProgressBar bar(std::cerr, IsTerminal(2));
  while (operation.state() == v1::BULK_OPERATION_STATE_RUNNING) {
    bar.Draw(operation.scanned_count(), operation.total_estimate(), "looked at");
    if (interrupt.Wait(kPollInterval)) return Stop(session, operation);
    auto now = Get(session, operation.operation_id());
    if (!now.ok()) return now.status();
    operation = *std::move(now);
  }
  return absl::OkStatus();
}

absl::Status FollowAndTell(Session& session, v1::BulkOperation operation, Interrupt& interrupt) {
  const absl::Status status = Follow(session, operation, interrupt);
  if (!status.ok()) return status;
  if (session.json()) {
    ShowOne(session, operation);
  } else {
    session.out() << Tasks(operation.changed_count()) << " changed of "
                  << FormatCount(operation.matched_count()) << " that matched\n";
  }
  if (operation.state() == v1::BULK_OPERATION_STATE_STOPPED) {
    return absl::AbortedError("the operation was stopped by somebody else");
  }
  return absl::OkStatus();
}

absl::Status RunBulk(Session& session, const BulkPlan& plan) {
  v1::TaskFilter choice = plan.filter;
  choice.clear_queue();
  if (choice.ByteSizeLong() == 0) {
    return UsageError("say which tasks of the queue, as by --state or --key-prefix, or --all");
  }
  if (plan.is_sure && !plan.dry_run) return StartAndFollow(session, plan);
  const absl::StatusOr<v1::BulkOperation> count = CountMatches(session, plan);
  if (!count.ok()) return count.status();
  const std::string what = absl::StrCat(plan.verb, " ", Tasks(count->matched_count()), " of queue ",
                                        OneLine(plan.filter.queue()));
  if (plan.dry_run) {
    if (session.json()) return ShowOne(session, *count), absl::OkStatus();
    session.out() << "would " << what << "\n";
    return absl::OkStatus();
  }
  if (count->matched_count() == 0) {
    session.out() << "no task of queue " << OneLine(plan.filter.queue()) << " matches\n";
    return absl::OkStatus();
  }
  if (!IsTerminal(0)) {
    return UsageError(absl::StrCat("would ", what, "; nothing was done: repeat it with --yes"));
  }
  if (!Ask(absl::StrCat("Really ", what, "?"))) return UsageError("nothing was done");
  return StartAndFollow(session, plan);
}

}  // namespace skiplane::cli
