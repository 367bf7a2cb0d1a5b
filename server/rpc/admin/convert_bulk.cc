#include "server/rpc/admin/convert_bulk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/admin/convert_filter.h"
#include "server/rpc/admin/convert_queue.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

using Kind = model::TaskChange::Kind;

constexpr DurationRange kWaitRange = {absl::ZeroDuration(), model::kWaitMax};
constexpr absl::Duration kWaitDefault = absl::Seconds(5);

absl::StatusOr<model::TaskChange> ReadAction(const v1::BulkAction& wire) {
  model::TaskChange change;
  switch (wire.action_case()) {
    case v1::BulkAction::kSetPriority:
      RETURN_IF_ERROR(CheckNumber(wire.set_priority(),
                                  {model::kPriorityMin, model::kPriorityMax},
                                  {"action.set_priority"}));
      change.kind = Kind::kPrioritize;
      change.priority = static_cast<int16_t>(wire.set_priority());
      return change;
    case v1::BulkAction::kRunNow:
      change.kind = Kind::kRunNow;
      return change;
    case v1::BulkAction::kScheduleTime: {
      change.kind = Kind::kRunAt;
      ASSIGN_OR_RETURN(change.schedule_time,
                       ReadStartTime(wire.schedule_time(), {"action.schedule_time"}));
      return change;
    }
    case v1::BulkAction::kPostpone: {
      change.kind = Kind::kPostpone;
      ASSIGN_OR_RETURN(change.postpone, ReadPostpone(wire.postpone(), {"action.postpone"}));
      return change;
    }
    case v1::BulkAction::kRetry:
      change.kind = Kind::kRetry;
      return change;
    case v1::BulkAction::kCancel:
      change.kind = Kind::kCancel;
      return change;
    case v1::BulkAction::kDelete:
      change.kind = Kind::kDelete;
      return change;
    case v1::BulkAction::kDeleteQueue:
      return InvalidField({"action.delete_queue"}, "is what DeleteQueue does: call that");
    default:
      return InvalidField({"action"}, "is required");
  }
}

void WriteAction(const model::TaskChange& change, v1::BulkAction* wire) {
  switch (change.kind) {
    case Kind::kPrioritize:
      wire->set_set_priority(change.priority);
      break;
    case Kind::kRunAt:
      WriteTime(change.schedule_time, wire->mutable_schedule_time());
      break;
    case Kind::kPostpone:
      WriteDuration(change.postpone, wire->mutable_postpone());
      break;
    case Kind::kRetry:
      wire->mutable_retry();
      break;
    case Kind::kCancel:
      wire->mutable_cancel();
      break;
    case Kind::kDelete:
      wire->mutable_delete_();
      break;
    case Kind::kDeleteQueue:
      wire->mutable_delete_queue()->set_with_tasks(change.with_tasks);
      break;
    default:
      wire->mutable_run_now();
  }
}

absl::Status CheckStates(const model::TaskFilter& filter, const model::TaskChange& change) {
  if (filter.states.succeeded || filter.states.cancelled) {
    return InvalidField({"filter.states"}, "SUCCEEDED and CANCELLED tasks cannot be changed");
  }
  if (filter.states.failed && !change.IsForFailed()) {
    return InvalidField({"filter.states"}, "FAILED tasks can be retried or deleted only");
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> ReadWait(bool is_set, const google::protobuf::Duration& wait,
                                        absl::Duration unset) {
  return is_set ? ReadDuration(wait, kWaitRange, {"wait"}) : unset;
}

absl::StatusOr<model::SessionId> ReadOperationId(const std::string& text) {
  model::SessionId id{};
  const std::string bytes = text.size() == 2 * id.size() ? absl::HexStringToBytes(text) : "";
  if (bytes.size() != id.size() || absl::BytesToHexString(bytes) != text) {
    return InvalidField({"operation_id"}, "must be an id that StartBulkOperation returned");
  }
  std::copy(bytes.begin(), bytes.end(), id.begin());
  return id;
}

}  // namespace

absl::StatusOr<absl::Time> ReadStartTime(const google::protobuf::Timestamp& wire,
                                         const Field& field) {
  ASSIGN_OR_RETURN(const absl::Time time, ReadTime(wire, field));
  if (time > absl::Now() + model::kStartAheadMax) {
    return InvalidField(field, "is more than 10 years ahead");
  }
  return time;
}

absl::StatusOr<absl::Duration> ReadPostpone(const google::protobuf::Duration& wire,
                                            const Field& field) {
  return ReadDuration(wire, {absl::ZeroDuration(), model::kStartAheadMax}, field);
}

absl::StatusOr<broker::StartBulkCall> ReadStartBulk(v1::StartBulkOperationRequest* request) {
  broker::StartBulkCall call;
  const bool all = request->filter().all();
  ASSIGN_OR_RETURN(call.filter, ReadFilter(request->mutable_filter()));
  ASSIGN_OR_RETURN(call.change, ReadAction(request->action()));
  if (all == call.filter.IsNarrow()) {
    return InvalidField({"filter.all"}, all ? "must be unset when the filter says more"
                                            : "must be true when nothing but the queue is set");
  }
  if (call.filter.states.IsEmpty()) {
    call.filter.states = LivingStates();
    call.filter.states.failed = call.change.IsForFailed();
  }
  RETURN_IF_ERROR(CheckStates(call.filter, call.change));
  call.dry_run = request->dry_run();
  ASSIGN_OR_RETURN(call.wait, ReadWait(request->has_wait(), request->wait(), kWaitDefault));
  return call;
}

absl::StatusOr<broker::StartBulkCall> ReadRetryGroup(v1::RetryErrorGroupRequest* request) {
  broker::StartBulkCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckText(request->stage(), model::kStageNameBytesMax, {"stage"}));
  RETURN_IF_ERROR(CheckRequiredText(request->fingerprint(), model::kErrorTypeBytesMax,
                                    {"fingerprint"}));
  ASSIGN_OR_RETURN(call.wait, ReadWait(request->has_wait(), request->wait(), kWaitDefault));
  call.queue_field = "queue";
  call.filter.queue = std::move(*request->mutable_queue());
  call.filter.stage = std::move(*request->mutable_stage());
  call.filter.fingerprint = std::move(*request->mutable_fingerprint());
  call.filter.states.scheduled = call.filter.states.ready = call.filter.states.failed = true;
  call.change.kind = Kind::kRetry;
  return call;
}

absl::StatusOr<broker::DeleteQueueCall> ReadDeleteQueue(v1::DeleteQueueRequest* request) {
  broker::DeleteQueueCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  ASSIGN_OR_RETURN(call.wait, ReadWait(request->has_wait(), request->wait(), kWaitDefault));
  if (!request->etag().empty()) call.version = ReadEtag(request->etag());
  call.name = std::move(*request->mutable_name());
  call.with_tasks = request->with_tasks();
  return call;
}

absl::StatusOr<broker::GetBulkCall> ReadGetBulk(v1::GetBulkOperationRequest* request) {
  broker::GetBulkCall call;
  ASSIGN_OR_RETURN(call.id, ReadOperationId(request->operation_id()));
  ASSIGN_OR_RETURN(call.wait,
                   ReadWait(request->has_wait(), request->wait(), absl::ZeroDuration()));
  return call;
}

absl::StatusOr<broker::StopBulkCall> ReadStopBulk(v1::StopBulkOperationRequest* request) {
  broker::StopBulkCall call;
  ASSIGN_OR_RETURN(call.id, ReadOperationId(request->operation_id()));
  return call;
}

absl::StatusOr<broker::ListBulksCall> ReadListBulks(v1::ListBulkOperationsRequest* request) {
  broker::ListBulksCall call;
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  if (request->page_token().empty()) return call;
  ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                   ReadListToken(request->page_token(), TokenScope(*request), 2));
  int64_t micros = 0;
  RETURN_IF_ERROR(ReadNumbers({parts[0]}, &micros));
  const absl::StatusOr<model::SessionId> id = ReadOperationId(parts[1]);
  if (!id.ok()) return BadListToken();
  call.before = absl::FromUnixMicros(micros);
  call.before_id = *id;
  return call;
}

std::string WriteOperationId(const model::SessionId& id) {
  return absl::BytesToHexString(std::string(id.begin(), id.end()));
}

void WriteBulk(const model::BulkOperation& operation, v1::BulkOperation* wire) {
  wire->set_operation_id(WriteOperationId(operation.id));
  WriteAction(operation.change, wire->mutable_action());
  WriteFilter(operation.filter, wire->mutable_filter());
  wire->set_dry_run(operation.dry_run);
  wire->set_state(ToWire(operation.state));
  wire->set_scanned_count(operation.scanned);
  wire->set_matched_count(operation.matched);
  wire->set_changed_count(operation.changed);
  wire->set_total_estimate(operation.total);
  wire->set_actor(operation.actor);
  WriteTime(operation.create_time, wire->mutable_create_time());
  WriteTime(operation.update_time, wire->mutable_update_time());
}

}  // namespace skiplane::rpc
