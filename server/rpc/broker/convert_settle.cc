#include "server/rpc/broker/convert_settle.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/status.h"
#include "server/rpc/call/text.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kItems = "items";
constexpr DurationRange kRetryDelayRange = {absl::ZeroDuration(), model::kRetryDelayMax};

// How much of a refusal is told.
struct RefusalBytes {
  size_t field;
  size_t message;
};
// So that a thousand refused items and a next lease of usual tasks make an answer below 4 MiB.
constexpr RefusalBytes kOfItem = {256, 512};
constexpr RefusalBytes kOfLease = {kStatusFieldBytesMax, kStatusMessageBytesMax};

absl::Status CheckItems(int count) {
  return CheckCount(count, {1, model::kTasksPerCallMax}, {kItems});
}

// Which item of a call it is, and where in the item its ack or nack is; empty: it is the item.
struct Place {
  size_t index;
  absl::string_view outer = {};

  Field Of(absl::string_view name) const { return {name, kItems, index, nullptr, outer}; }
};

// What is too long is cut: the end of an attempt must not be lost for the sake of its error.
model::TaskError ReadError(v1::TaskError* wire) {
  CutTextInPlace(model::kErrorTypeBytesMax, wire->mutable_type());
  CutTextInPlace(model::kErrorTypeBytesMax, wire->mutable_fingerprint());
  CutInPlace(model::kErrorTextBytesMax, wire->mutable_text());
  return {std::move(*wire->mutable_type()), std::move(*wire->mutable_text()),
          std::move(*wire->mutable_fingerprint())};
}

absl::Status ReadDisposition(v1::NackItem* wire, model::NackItem* item) {
  ASSIGN_OR_RETURN(const auto disposition, ReadEnum(wire->disposition(), {"disposition"}));
  item->disposition = disposition.value_or(model::NackDisposition::kRetry);
  if (wire->has_retry_delay()) {
    if (item->disposition != model::NackDisposition::kRetry) {
      return InvalidField({"retry_delay"}, "must be unset unless the disposition is RETRY");
    }
    ASSIGN_OR_RETURN(item->retry_delay,
                     ReadDuration(wire->retry_delay(), kRetryDelayRange, {"retry_delay"}));
  }
  if (item->disposition == model::NackDisposition::kRelease || !wire->has_error()) {
    return absl::OkStatus();
  }
  item->error = ReadError(wire->mutable_error());
  return absl::OkStatus();
}

bool HasContinuation(const v1::AckItem& wire) {
  return wire.then_case() != v1::AckItem::THEN_NOT_SET || wire.has_next_payload() ||
         !wire.result().empty() || wire.follow_ups_size() > 0;
}

absl::Status ReadThen(v1::AckItem* wire, model::AckContinuation* continuation) {
  continuation->finish = wire->has_finish();
  if (!wire->has_next_stage()) return absl::OkStatus();
  RETURN_IF_ERROR(
      CheckRequiredText(wire->next_stage(), model::kStageNameBytesMax, {"next_stage"}));
  continuation->next_stage = std::move(*wire->mutable_next_stage());
  return absl::OkStatus();
}

absl::Status ReadNextPayload(v1::NextPayload* wire, model::AckContinuation* continuation) {
  absl::StatusOr<model::TaskContent> content = ReadContent(wire);
  if (!content.ok()) return base::PrefixField("next_payload.", content.status());
  continuation->next_content = *std::move(content);
  return absl::OkStatus();
}

absl::StatusOr<model::NewTask> ReadFollowUp(v1::NewTask* wire, int index) {
  const std::string path = absl::StrCat("follow_ups[", index, "]");
  RETURN_IF_ERROR(model::CheckQueueName(wire->queue(), absl::StrCat(path, ".queue")));
  if (wire->key_policy() != v1::KEY_POLICY_UNSPECIFIED) {
    return InvalidField({absl::StrCat(path, ".key_policy")}, "must be unset");
  }
  return ReadNewTask(wire, {path});
}

absl::StatusOr<std::shared_ptr<model::AckContinuation>> ReadContinuation(v1::AckItem* wire) {
  auto continuation = std::make_shared<model::AckContinuation>();
  RETURN_IF_ERROR(ReadThen(wire, continuation.get()));
  if (wire->has_next_payload()) {
    RETURN_IF_ERROR(ReadNextPayload(wire->mutable_next_payload(), continuation.get()));
  }
  RETURN_IF_ERROR(CheckBytes(wire->result(), model::kResultBytesMax, {"result"}));
  continuation->result = std::move(*wire->mutable_result());
  RETURN_IF_ERROR(
      CheckCount(wire->follow_ups_size(), {0, model::kFollowUpsPerItemMax}, {"follow_ups"}));
  for (int i = 0; i < wire->follow_ups_size(); ++i) {
    ASSIGN_OR_RETURN(model::NewTask follow_up, ReadFollowUp(wire->mutable_follow_ups(i), i));
    continuation->follow_ups.push_back(std::move(follow_up));
  }
  return continuation;
}

// Only what makes the call as a whole impossible fails it: the rest is an answer for its item.
// `follow_ups` counts those of the call.
absl::StatusOr<model::AckItem> ReadAckItem(v1::AckItem* wire, const Place& place,
                                           int* follow_ups) {
  model::AckItem item;
  ASSIGN_OR_RETURN(item.token, ReadToken(wire->lease_token(), place.Of("lease_token")));
  if (!HasContinuation(*wire)) return item;
  absl::StatusOr<std::shared_ptr<model::AckContinuation>> continuation =
      ReadContinuation(wire);
  if (!continuation.ok()) {
    item.refusal = continuation.status();
    return item;
  }
  *follow_ups += wire->follow_ups_size();
  RETURN_IF_ERROR(
      CheckCount(*follow_ups, {0, model::kTasksPerCallMax}, place.Of("follow_ups")));
  item.continuation = *std::move(continuation);
  return item;
}

absl::StatusOr<model::NackItem> ReadNackItem(v1::NackItem* wire, const Place& place) {
  model::NackItem item;
  ASSIGN_OR_RETURN(item.token, ReadToken(wire->lease_token(), place.Of("lease_token")));
  item.refusal = ReadDisposition(wire, &item);
  return item;
}

absl::StatusOr<model::NackItem> ReadReleaseItem(const v1::ReleaseItem& wire, const Place& place) {
  model::NackItem item;
  item.disposition = model::NackDisposition::kRelease;
  ASSIGN_OR_RETURN(item.token, ReadToken(wire.lease_token(), place.Of("lease_token")));
  return item;
}

absl::Status ReadSettleItem(v1::SettleItem* wire, size_t index, int* follow_ups,
                            SettleCall* call) {
  switch (wire->settlement_case()) {
    case v1::SettleItem::kAck: {
      ASSIGN_OR_RETURN(model::AckItem item,
                       ReadAckItem(wire->mutable_ack(), {index, "ack"}, follow_ups));
      call->items.emplace_back(std::move(item));
      call->paths.emplace_back("ack.");
      return absl::OkStatus();
    }
    case v1::SettleItem::kNack: {
      ASSIGN_OR_RETURN(model::NackItem item, ReadNackItem(wire->mutable_nack(), {index, "nack"}));
      call->items.emplace_back(std::move(item));
      call->paths.emplace_back("nack.");
      return absl::OkStatus();
    }
    case v1::SettleItem::kRelease: {
      ASSIGN_OR_RETURN(model::NackItem item, ReadReleaseItem(wire->release(), {index, "release"}));
      call->items.emplace_back(std::move(item));
      call->paths.emplace_back("release.");
      return absl::OkStatus();
    }
    case v1::SettleItem::SETTLEMENT_NOT_SET:
      break;
  }
  return InvalidField(Place{index}.Of("settlement"), "must be an ack, a nack or a release");
}

// Of an Ack or a Settle.
template <typename Request>
absl::Status ReadLeaseNext(Request* request, SettleCall* call) {
  if (!request->has_lease_next()) return absl::OkStatus();
  absl::StatusOr<broker::LeaseCall> lease = ReadLease(request->mutable_lease_next());
  if (!lease.ok()) return base::PrefixField("lease_next.", lease.status());
  call->lease = *std::move(lease);
  return absl::OkStatus();
}

void WriteRefusal(const absl::Status& refusal, const RefusalBytes& most, v1::Refusal* wire) {
  const absl::Status shown = Shown(refusal);
  wire->set_reason(base::ReasonOf(shown));
  wire->set_field(std::string(CutText(base::FieldOf(shown), most.field)));
  wire->set_message(std::string(CutText(shown.message(), most.message)));
}

}  // namespace

absl::StatusOr<model::LeaseToken> ReadToken(absl::string_view token, const Field& field) {
  absl::StatusOr<model::LeaseToken> decoded = model::DecodeLeaseToken(token);
  if (!decoded.ok()) return InvalidLeaseToken(field);
  return decoded;
}

absl::StatusOr<SettleCall> ReadAck(v1::AckRequest* request) {
  SettleCall call;
  RETURN_IF_ERROR(ReadLeaseNext(request, &call));
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  call.items.reserve(static_cast<size_t>(request->items_size()));
  int follow_ups = 0;
  for (v1::AckItem& wire : *request->mutable_items()) {
    ASSIGN_OR_RETURN(model::AckItem item, ReadAckItem(&wire, {call.items.size()}, &follow_ups));
    call.items.emplace_back(std::move(item));
  }
  return call;
}

absl::StatusOr<SettleCall> ReadNack(v1::NackRequest* request) {
  SettleCall call;
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  call.items.reserve(static_cast<size_t>(request->items_size()));
  for (v1::NackItem& wire : *request->mutable_items()) {
    ASSIGN_OR_RETURN(model::NackItem item, ReadNackItem(&wire, {call.items.size()}));
    call.items.emplace_back(std::move(item));
  }
  return call;
}

absl::StatusOr<SettleCall> ReadSettle(v1::SettleRequest* request) {
  SettleCall call;
  RETURN_IF_ERROR(ReadLeaseNext(request, &call));
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  call.items.reserve(static_cast<size_t>(request->items_size()));
  int follow_ups = 0;
  for (v1::SettleItem& wire : *request->mutable_items()) {
    RETURN_IF_ERROR(ReadSettleItem(&wire, call.items.size(), &follow_ups, &call));
  }
  return call;
}

void NamePaths(const std::vector<absl::string_view>& paths,
               std::vector<model::SettleResult>* results) {
  for (size_t i = 0; i < std::min(paths.size(), results->size()); ++i) {
    absl::Status& refusal = (*results)[i].refusal;
    if (!refusal.ok()) refusal = base::PrefixField(paths[i], refusal);
  }
}

void WriteResult(model::SettleResult* result, v1::SettleResult* wire) {
  wire->set_outcome(ToWire(result->outcome));
  if (!result->refusal.ok()) WriteRefusal(result->refusal, kOfItem, wire->mutable_refusal());
  if (result->outcome != model::SettleOutcome::kSettled) return;
  wire->set_state(ToWire(result->state));
  wire->set_stage(std::move(result->stage));
  if (result->schedule_time) WriteTime(*result->schedule_time, wire->mutable_schedule_time());
  for (const model::EnqueueResult& follow_up : result->follow_ups) {
    WriteEnqueueResult(follow_up, wire->add_follow_ups());
  }
}

void WriteResults(std::vector<model::SettleResult>* results, WireResults* wire) {
  wire->Reserve(static_cast<int>(results->size()));
  for (model::SettleResult& result : *results) WriteResult(&result, wire->Add());
}

void WriteLeaseRefusal(const absl::Status& refusal, v1::Refusal* wire) {
  WriteRefusal(refusal, kOfLease, wire);
}

}  // namespace skiplane::rpc
