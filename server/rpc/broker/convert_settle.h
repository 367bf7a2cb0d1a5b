// Ack and Nack between the wire and the broker. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/broker/api/calls.h"
#include "server/model/lease.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

struct AckCall {
  std::vector<model::AckItem> items;
  std::optional<broker::LeaseCall> lease;
};

// INVALID_LEASE_TOKEN on `field` if `token` is not one of ours.
absl::StatusOr<model::LeaseToken> ReadToken(absl::string_view token, const Field& field);

// Takes payloads, results and texts out of `request`.
absl::StatusOr<AckCall> ReadAck(v1::AckRequest* request);
void WriteAck(std::vector<model::AckResult>* results, v1::AckResponse* response);

// Takes the errors' texts out of `request`.
absl::StatusOr<std::vector<model::NackItem>> ReadNack(v1::NackRequest* request);
void WriteNack(std::vector<model::NackResult>* results, v1::NackResponse* response);

}  // namespace skiplane::rpc
