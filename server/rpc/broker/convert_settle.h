// Ack, Nack and Settle between the wire and the broker. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/broker/api/calls.h"
#include "server/model/lease.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

struct SettleCall {
  std::vector<model::SettleItem> items;
  // Of a Settle: where in each item the fields are that its refusal may blame.
  std::vector<absl::string_view> paths;
  std::optional<broker::LeaseCall> lease;
};

// INVALID_LEASE_TOKEN on `field` if `token` is not one of ours.
absl::StatusOr<model::LeaseToken> ReadToken(absl::string_view token, const Field& field);

// They take payloads, results and texts out of `request`.
absl::StatusOr<SettleCall> ReadAck(v1::AckRequest* request);
absl::StatusOr<SettleCall> ReadNack(v1::NackRequest* request);
absl::StatusOr<SettleCall> ReadSettle(v1::SettleRequest* request);

// Before the results are written: their refusals name fields of the items that the caller sent.
void NamePaths(const std::vector<absl::string_view>& paths,
               std::vector<model::SettleResult>* results);

using WireResults = google::protobuf::RepeatedPtrField<v1::SettleResult>;
void WriteResults(std::vector<model::SettleResult>* results, WireResults* wire);
void WriteLeaseRefusal(const absl::Status& refusal, v1::Refusal* wire);
void WriteResult(model::SettleResult* result, v1::SettleResult* wire);

// The response of an Ack, a Nack or a Settle that leases nothing.
template <typename Response>
void WriteSettled(std::vector<model::SettleResult>* results, Response* response) {
  WriteResults(results, response->mutable_results());
}

// That of an Ack or a Settle that asked for the next lease.
template <typename Response>
void WriteBoth(broker::SettleAndLeaseAnswer* answer, Response* response) {
  WriteResults(&answer->results, response->mutable_results());
  if (answer->lease.has_value()) {
    WriteLease(&*answer->lease, response->mutable_lease());
  } else if (!answer->lease_refusal.ok()) {
    WriteLeaseRefusal(answer->lease_refusal, response->mutable_lease_refusal());
  }
}

}  // namespace skiplane::rpc
