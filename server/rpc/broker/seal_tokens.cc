#include "server/rpc/broker/seal_tokens.h"

#include <optional>
#include <string>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {

absl::Status OpenToken(const access::TokenSeal& seal, std::string* token, const Field& field) {
  const std::optional<absl::string_view> opened = seal.Open(*token);
  if (!opened.has_value() && seal.MayBeOfNewKey(*token)) {
    return base::RefuseField(
        absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", field.Path(),
        "this broker has not read the keys of lease tokens for some time, and may lack the one of "
        "this token; nothing was changed: repeat the call, elsewhere if possible");
  }
  if (!opened.has_value()) return InvalidLeaseToken(field);
  token->resize(opened->size());  // it is the beginning of what was sealed
  return absl::OkStatus();
}

namespace {

// `name` is the field of the items; their tokens are all called alike.
template <typename Items>
absl::Status OpenAll(const access::TokenSeal& seal, absl::string_view name, Items* items) {
  if (items->size() > model::kTasksPerCallMax) return absl::OkStatus();
  for (int i = 0; i < items->size(); ++i) {
    RETURN_IF_ERROR(OpenToken(seal, items->Mutable(i)->mutable_lease_token(),
                         {"lease_token", name, static_cast<size_t>(i)}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenTokens(const access::TokenSeal& seal, v1::AckRequest* request) {
  return OpenAll(seal, "items", request->mutable_items());
}

absl::Status OpenTokens(const access::TokenSeal& seal, v1::NackRequest* request) {
  return OpenAll(seal, "items", request->mutable_items());
}

absl::Status OpenTokens(const access::TokenSeal& seal, v1::HeartbeatRequest* request) {
  return OpenAll(seal, "leases", request->mutable_leases());
}

absl::Status OpenTokens(const access::TokenSeal& seal, v1::SettleRequest* request) {
  if (request->items_size() > model::kTasksPerCallMax) return absl::OkStatus();
  for (int i = 0; i < request->items_size(); ++i) {
    v1::SettleItem& item = *request->mutable_items(i);
    const auto field = [i](absl::string_view settlement) {
      return Field{"lease_token", "items", static_cast<size_t>(i), nullptr, settlement};
    };
    if (item.has_ack()) {
      RETURN_IF_ERROR(OpenToken(seal, item.mutable_ack()->mutable_lease_token(), field("ack")));
    } else if (item.has_nack()) {
      RETURN_IF_ERROR(OpenToken(seal, item.mutable_nack()->mutable_lease_token(), field("nack")));
    } else if (item.has_release()) {
      RETURN_IF_ERROR(
          OpenToken(seal, item.mutable_release()->mutable_lease_token(), field("release")));
    }
  }
  return absl::OkStatus();
}

void SealTokens(const access::TokenSeal& seal, v1::LeaseResponse* response) {
  for (v1::LeasedTask& task : *response->mutable_tasks()) seal.Seal(task.mutable_lease_token());
}

}  // namespace skiplane::rpc
