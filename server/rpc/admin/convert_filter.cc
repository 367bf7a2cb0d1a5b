#include "server/rpc/admin/convert_filter.h"

#include <string>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr int kHeadersMost = 16;
constexpr int kStatesMost = 100;  // a few, perhaps repeated: the audit keeps them
constexpr DurationRange kAgeRange = {absl::ZeroDuration(), model::kStartAheadMax};

constexpr std::pair<model::TaskState, bool model::TaskStates::*> kStates[] = {
    {model::TaskState::kScheduled, &model::TaskStates::scheduled},
    {model::TaskState::kReady, &model::TaskStates::ready},
    {model::TaskState::kLeased, &model::TaskStates::leased},
    {model::TaskState::kSucceeded, &model::TaskStates::succeeded},
    {model::TaskState::kFailed, &model::TaskStates::failed},
    {model::TaskState::kCancelled, &model::TaskStates::cancelled},
};

absl::Status AddState(v1::TaskState wire, size_t index, model::TaskStates* states) {
  ASSIGN_OR_RETURN(const model::TaskState state, ReadEnum(wire, {"", "filter.states", index}));
  for (const auto& [value, member] : kStates) {
    if (value == state) states->*member = true;
  }
  return absl::OkStatus();
}

absl::Status ReadIds(const v1::TaskFilter& wire, std::vector<model::TaskId>* ids) {
  RETURN_IF_ERROR(
      CheckCount(wire.task_ids_size(), {0, model::kTasksPerCallMax}, {"filter.task_ids"}));
  for (const std::string& text : wire.task_ids()) {
    absl::StatusOr<model::TaskId> id = model::ParseTaskId(text);
    if (!id.ok()) {
      return InvalidField({"", "filter.task_ids", ids->size()}, "must be the id of a task");
    }
    ids->push_back(*id);
  }
  return absl::OkStatus();
}

// What came after 0.1.
absl::Status ReadNewerFilter(v1::TaskFilter* wire, model::TaskFilter* filter) {
  RETURN_IF_ERROR(ReadIds(*wire, &filter->ids));
  RETURN_IF_ERROR(CheckText(wire->error_type(), model::kErrorTypeBytesMax, {"filter.error_type"}));
  RETURN_IF_ERROR(CheckNumber(wire->min_attempts(), {0, model::kMaxAttemptsMax},
                              {"filter.min_attempts"}));
  if (wire->has_start_time()) {
    ASSIGN_OR_RETURN(filter->start, ReadTime(wire->start_time(), {"filter.start_time"}));
  }
  if (wire->has_end_time()) {
    ASSIGN_OR_RETURN(filter->end, ReadTime(wire->end_time(), {"filter.end_time"}));
  }
  if (filter->start && filter->end && *filter->end <= *filter->start) {
    return InvalidField({"filter.end_time"}, "must be after filter.start_time");
  }
  RETURN_IF_ERROR(
      CheckText(wire->payload_text(), model::kErrorTypeBytesMax, {"filter.payload_text"}));
  filter->min_attempts = wire->min_attempts();
  filter->error_type = std::move(*wire->mutable_error_type());
  filter->payload_text = std::move(*wire->mutable_payload_text());
  return absl::OkStatus();
}

}  // namespace

model::TaskStates LivingStates() {
  model::TaskStates states;
  states.scheduled = states.ready = states.leased = true;
  return states;
}

absl::StatusOr<model::TaskFilter> ReadFilter(v1::TaskFilter* wire, bool has_other_queues) {
  model::TaskFilter filter;
  if (!has_other_queues) RETURN_IF_ERROR(model::CheckQueueName(wire->queue(), "filter.queue"));
  RETURN_IF_ERROR(CheckText(wire->stage(), model::kStageNameBytesMax, {"filter.stage"}));
  RETURN_IF_ERROR(CheckCount(wire->states_size(), {0, kStatesMost}, {"filter.states"}));
  for (int i = 0; i < wire->states_size(); ++i) {
    RETURN_IF_ERROR(AddState(wire->states(i), static_cast<size_t>(i), &filter.states));
  }
  RETURN_IF_ERROR(CheckText(wire->key_prefix(), model::kKeyBytesMax, {"filter.key_prefix"}));
  RETURN_IF_ERROR(CheckCount(static_cast<int>(wire->headers().size()), {0, kHeadersMost},
                             {"filter.headers"}));
  ASSIGN_OR_RETURN(filter.headers, ReadHeaders(wire->mutable_headers(), {"filter.headers"}));
  RETURN_IF_ERROR(
      CheckText(wire->fingerprint(), model::kErrorTypeBytesMax, {"filter.fingerprint"}));
  if (wire->has_min_age()) {
    ASSIGN_OR_RETURN(filter.min_age, ReadDuration(wire->min_age(), kAgeRange, {"filter.min_age"}));
  }
  if (wire->has_max_age()) {
    ASSIGN_OR_RETURN(filter.max_age, ReadDuration(wire->max_age(), kAgeRange, {"filter.max_age"}));
  }
  if (wire->has_priority()) {
    RETURN_IF_ERROR(CheckNumber(wire->priority(), {model::kPriorityMin, model::kPriorityMax},
                                {"filter.priority"}));
    filter.priority = static_cast<int16_t>(wire->priority());
  }
  if (wire->has_periodic()) filter.periodic = wire->periodic();
  RETURN_IF_ERROR(ReadNewerFilter(wire, &filter));
  filter.queue = std::move(*wire->mutable_queue());
  filter.stage = std::move(*wire->mutable_stage());
  filter.key_prefix = std::move(*wire->mutable_key_prefix());
  filter.fingerprint = std::move(*wire->mutable_fingerprint());
  return filter;
}

void WriteFilter(const model::TaskFilter& filter, v1::TaskFilter* wire) {
  wire->set_queue(filter.queue);
  wire->set_stage(filter.stage);
  for (const auto& [state, member] : kStates) {
    if (filter.states.*member) wire->add_states(ToWire(state));
  }
  wire->set_key_prefix(filter.key_prefix);
  for (const auto& [key, value] : filter.headers) (*wire->mutable_headers())[key] = value;
  wire->set_fingerprint(filter.fingerprint);
  if (filter.min_age) WriteDuration(*filter.min_age, wire->mutable_min_age());
  if (filter.max_age) WriteDuration(*filter.max_age, wire->mutable_max_age());
  if (filter.priority) wire->set_priority(*filter.priority);
  if (filter.periodic) wire->set_periodic(*filter.periodic);
  for (const model::TaskId& id : filter.ids) wire->add_task_ids(model::FormatTaskId(id));
  wire->set_error_type(filter.error_type);
  wire->set_min_attempts(filter.min_attempts);
  if (filter.start) WriteTime(*filter.start, wire->mutable_start_time());
  if (filter.end) WriteTime(*filter.end, wire->mutable_end_time());
  wire->set_payload_text(filter.payload_text);
}

}  // namespace skiplane::rpc
