#include "server/rpc/convert_settle.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/check.h"
#include "server/rpc/convert_task.h"
#include "server/rpc/status.h"
#include "server/rpc/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kItems = "items";
constexpr DurationRange kRetryDelayRange = {absl::ZeroDuration(), model::kRetryDelayMax};

absl::Status CheckItems(int count) {
  return CheckCount(count, {1, model::kTasksPerCallMax}, {kItems});
}

absl::StatusOr<model::NackDisposition> ReadDisposition(v1::NackDisposition wire, size_t index) {
  switch (wire) {
    case v1::NACK_DISPOSITION_UNSPECIFIED:
    case v1::NACK_DISPOSITION_RETRY:
      return model::NackDisposition::kRetry;
    case v1::NACK_DISPOSITION_RELEASE:
      return model::NackDisposition::kRelease;
    case v1::NACK_DISPOSITION_FAIL:
      return model::NackDisposition::kFail;
    default:
      return InvalidField({"disposition", kItems, index}, "must be RETRY, RELEASE or FAIL");
  }
}

absl::Status CheckError(const v1::TaskError& error, size_t index) {
  RETURN_IF_ERROR(
      CheckText(error.type(), model::kErrorTypeBytesMax, {"error.type", kItems, index}));
  RETURN_IF_ERROR(CheckText(error.fingerprint(), model::kErrorTypeBytesMax,
                            {"error.fingerprint", kItems, index}));
  if (error.text().size() <= model::kErrorTextBytesMax) return absl::OkStatus();
  return InvalidField({"error.text", kItems, index},
                      absl::StrCat("has ", error.text().size(), " bytes; at most ",
                                   model::kErrorTextBytesMax));
}

absl::StatusOr<model::NackItem> ReadNackItem(v1::NackItem* wire, size_t index) {
  model::NackItem item;
  ASSIGN_OR_RETURN(item.token, ReadToken(wire->lease_token(), {"lease_token", kItems, index}));
  ASSIGN_OR_RETURN(item.disposition, ReadDisposition(wire->disposition(), index));
  if (wire->has_retry_delay()) {
    const Field field = {"retry_delay", kItems, index};
    if (item.disposition != model::NackDisposition::kRetry) {
      return InvalidField(field, "must be unset unless the disposition is RETRY");
    }
    ASSIGN_OR_RETURN(item.retry_delay, ReadDuration(wire->retry_delay(), kRetryDelayRange, field));
  }
  RETURN_IF_ERROR(CheckError(wire->error(), index));
  if (item.disposition == model::NackDisposition::kRelease) return item;
  v1::TaskError* error = wire->mutable_error();
  item.error.type = std::move(*error->mutable_type());
  item.error.text = std::move(*error->mutable_text());
  item.error.fingerprint = std::move(*error->mutable_fingerprint());
  return item;
}

v1::AckOutcome WireAckOutcome(model::SettleOutcome outcome) {
  switch (outcome) {
    case model::SettleOutcome::kSettled:
      return v1::ACK_OUTCOME_ACKED;
    case model::SettleOutcome::kAlreadySettled:
      return v1::ACK_OUTCOME_ALREADY_SETTLED;
    case model::SettleOutcome::kLeaseLost:
      return v1::ACK_OUTCOME_LEASE_LOST;
    case model::SettleOutcome::kNotFound:
      return v1::ACK_OUTCOME_NOT_FOUND;
  }
  return v1::ACK_OUTCOME_UNSPECIFIED;
}

v1::NackOutcome WireNackOutcome(model::SettleOutcome outcome) {
  switch (outcome) {
    case model::SettleOutcome::kSettled:
      return v1::NACK_OUTCOME_NACKED;
    case model::SettleOutcome::kAlreadySettled:
      return v1::NACK_OUTCOME_ALREADY_SETTLED;
    case model::SettleOutcome::kLeaseLost:
      return v1::NACK_OUTCOME_LEASE_LOST;
    case model::SettleOutcome::kNotFound:
      return v1::NACK_OUTCOME_NOT_FOUND;
  }
  return v1::NACK_OUTCOME_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<model::LeaseToken> ReadToken(absl::string_view token, const Field& field) {
  absl::StatusOr<model::LeaseToken> decoded = model::DecodeLeaseToken(token);
  if (!decoded.ok()) return MalformedToken(field);
  return decoded;
}

absl::StatusOr<std::vector<model::LeaseToken>> ReadAck(v1::AckRequest* request) {
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  std::vector<model::LeaseToken> tokens;
  tokens.reserve(static_cast<size_t>(request->items_size()));
  for (const v1::AckItem& item : request->items()) {
    ASSIGN_OR_RETURN(const model::LeaseToken token,
                     ReadToken(item.lease_token(), {"lease_token", kItems, tokens.size()}));
    tokens.push_back(token);
  }
  return tokens;
}

void WriteAck(std::vector<model::SettleOutcome>* outcomes, v1::AckResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(outcomes->size()));
  for (const model::SettleOutcome outcome : *outcomes) {
    response->add_results()->set_outcome(WireAckOutcome(outcome));
  }
}

absl::StatusOr<std::vector<model::NackItem>> ReadNack(v1::NackRequest* request) {
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  std::vector<model::NackItem> items;
  items.reserve(static_cast<size_t>(request->items_size()));
  for (v1::NackItem& wire : *request->mutable_items()) {
    ASSIGN_OR_RETURN(model::NackItem item, ReadNackItem(&wire, items.size()));
    items.push_back(std::move(item));
  }
  return items;
}

void WriteNack(std::vector<model::NackResult>* results, v1::NackResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (const model::NackResult& result : *results) {
    v1::NackResult* wire = response->add_results();
    wire->set_outcome(WireNackOutcome(result.outcome));
    if (result.outcome != model::SettleOutcome::kSettled) continue;
    wire->set_state(WireState(result.state));
    if (result.schedule_time) WriteTime(*result.schedule_time, wire->mutable_schedule_time());
  }
}

}  // namespace skiplane::rpc
