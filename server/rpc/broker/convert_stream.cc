#include "server/rpc/broker/convert_stream.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/broker/seal_tokens.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/status.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kLeases = "leases";

absl::StatusOr<broker::LeaseCall> ReadWork(v1::WorkHello* hello) {
  RETURN_IF_ERROR(CheckRequiredText(hello->worker_id(), model::kWorkerIdBytesMax, {"worker_id"}));
  v1::LeaseRequest request;
  request.mutable_queues()->Swap(hello->mutable_queues());
  request.set_queue_order(hello->queue_order());
  request.set_worker_id(std::move(*hello->mutable_worker_id()));
  request.set_worker_name(std::move(*hello->mutable_worker_name()));
  request.set_client_version(std::move(*hello->mutable_client_version()));
  request.set_concurrency(hello->concurrency());
  request.set_max_tasks(1);
  request.set_max_bytes(hello->max_bytes());
  if (hello->has_lease_duration()) {
    *request.mutable_lease_duration() = hello->lease_duration();
  }
  ASSIGN_OR_RETURN(broker::LeaseCall call, ReadLease(&request));
  call.moves_session = false;
  return call;
}

}  // namespace

absl::StatusOr<broker::OpenSessionCall> ReadHello(const access::TokenSeal& seal,
                                                  v1::WorkHello* hello) {
  broker::OpenSessionCall call;
  ASSIGN_OR_RETURN(call.lease, ReadWork(hello));
  RETURN_IF_ERROR(CheckCount(hello->leases_size(), {0, model::kHelloLeasesMax}, {kLeases}));
  call.leases.reserve(static_cast<size_t>(hello->leases_size()));
  for (v1::HeldLease& wire : *hello->mutable_leases()) {
    const Field field = {"lease_token", kLeases, call.leases.size()};
    RETURN_IF_ERROR(OpenToken(seal, wire.mutable_lease_token(), field));
    ASSIGN_OR_RETURN(model::LeaseToken token, ReadToken(wire.lease_token(), field));
    call.leases.push_back(std::move(token));
  }
  return call;
}

absl::Status CheckNext(int64_t number, const Field& field, int64_t* last) {
  if (number <= *last) {
    return InvalidField(field,
                        absl::StrCat("is ", number, "; must be larger than ", *last,
                                     ", the one before: number them 1, 2, 3"));
  }
  *last = number;
  return absl::OkStatus();
}

void WriteStreamRefusal(const absl::Status& refusal, v1::Refusal* wire) {
  WriteLeaseRefusal(refusal, wire);
  const bool is_defect = wire->reason() == "INTERNAL_ERROR";
  const absl::StatusCode code = is_defect ? absl::StatusCode::kInternal : refusal.code();
  wire->set_code(static_cast<int32_t>(code));
  if (const auto delay = RetryHintOf(refusal)) WriteDuration(*delay, wire->mutable_retry_delay());
}

void WriteWelcome(const broker::OpenSessionAnswer& answer, v1::WorkWelcome* welcome) {
  for (const model::LeaseState state : answer.states) {
    welcome->add_leases()->set_state(ToWire(state));
  }
  WriteDuration(answer.lease_remaining, welcome->mutable_lease_remaining());
}

}  // namespace skiplane::rpc
