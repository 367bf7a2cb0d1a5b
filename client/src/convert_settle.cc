// The half of convert_task.h that ends attempts: Ack, Nack and Settle.
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_new_task.h"
#include "client/src/convert_task.h"
#include "client/src/convert_time.h"
#include "client/src/status.h"

namespace skiplane::internal {
namespace {

void MovePayload(NextPayload& payload, v1::NextPayload* proto) {
  proto->set_payload(std::move(payload.payload));
  proto->set_content_type(std::move(payload.content_type));
  for (auto& [key, value] : payload.headers) (*proto->mutable_headers())[key] = std::move(value);
}

absl::Status MoveMore(AckMore& more, absl::string_view at, v1::AckItem* proto) {
  if (!more.next_stage.empty() && more.finish) {
    return absl::InvalidArgumentError(absl::StrCat(at, " has both a next_stage and finish"));
  }
  if (!more.next_stage.empty()) proto->set_next_stage(std::move(more.next_stage));
  if (more.finish) proto->mutable_finish();
  if (more.next_payload) MovePayload(*more.next_payload, proto->mutable_next_payload());
  for (NewTask& follow_up : more.follow_ups) {
    const std::string task = absl::StrCat(at, ".follow_ups[", proto->follow_ups_size(), "]");
    const absl::Status status = MoveTask(follow_up, task, proto->add_follow_ups());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MoveAck(AckItem& item, absl::string_view at, v1::AckItem* proto) {
  proto->set_lease_token(std::move(item.lease_token));
  proto->set_result(std::move(item.result));
  return MoveMore(item.more, at, proto);
}

void MoveNack(NackItem& item, v1::NackItem* proto) {
  proto->set_lease_token(std::move(item.lease_token));
  proto->set_disposition(internal::ToProto(item.disposition));
  if (item.retry_delay) internal::ToProto(*item.retry_delay, proto->mutable_retry_delay());
  if (item.disposition == Disposition::kRelease) return;
  proto->mutable_error()->set_type(std::move(item.error.type));
  proto->mutable_error()->set_text(std::move(item.error.text));
  proto->mutable_error()->set_fingerprint(std::move(item.error.fingerprint));
}

SettleResult ResultOf(const v1::SettleResult& result) {
  SettleResult converted{.outcome = FromProto(result.outcome()),
                         .state = FromProto(result.state()),
                         .stage = result.stage()};
  if (result.has_schedule_time()) converted.schedule_time = FromProto(result.schedule_time());
  for (const v1::EnqueueResult& follow_up : result.follow_ups()) {
    converted.follow_ups.push_back(FromProto(follow_up));
  }
  if (result.has_refusal()) converted.refusal = FromProto(result.refusal());
  return converted;
}

template <typename Response>
std::vector<SettleResult> ResultsOf(const Response& response) {
  std::vector<SettleResult> results;
  for (const v1::SettleResult& result : response.results()) results.push_back(ResultOf(result));
  return results;
}

}  // namespace

absl::StatusOr<v1::AckRequest> AckToProto(std::vector<AckItem> items) {
  v1::AckRequest request;
  for (AckItem& item : items) {
    const std::string at = absl::StrCat("items[", request.items_size(), "]");
    const absl::Status status = MoveAck(item, at, request.add_items());
    if (!status.ok()) return status;
  }
  return request;
}

v1::NackRequest NackToProto(std::vector<NackItem> items) {
  v1::NackRequest request;
  for (NackItem& item : items) MoveNack(item, request.add_items());
  return request;
}

absl::StatusOr<v1::SettleRequest> SettleToProto(std::vector<SettleItem> items) {
  v1::SettleRequest request;
  for (SettleItem& item : items) {
    const std::string at = absl::StrCat("items[", request.items_size(), "].ack");
    v1::SettleItem* const proto = request.add_items();
    if (auto* const nack = std::get_if<NackItem>(&item)) {
      MoveNack(*nack, proto->mutable_nack());
      continue;
    }
    const absl::Status status = MoveAck(std::get<AckItem>(item), at, proto->mutable_ack());
    if (!status.ok()) return status;
  }
  return request;
}

std::vector<SettleResult> FromProto(const v1::AckResponse& response) { return ResultsOf(response); }

std::vector<SettleResult> FromProto(const v1::NackResponse& response) {
  return ResultsOf(response);
}

std::vector<SettleResult> FromProto(const v1::SettleResponse& response) {
  return ResultsOf(response);
}

}  // namespace skiplane::internal
