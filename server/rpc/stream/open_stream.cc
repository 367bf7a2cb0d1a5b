#include "server/rpc/stream/open_stream.h"

#include <utility>

#include "server/access/worker_key.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/rpc/call/method_verb.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {

using std::chrono::steady_clock;

OpenStream::OpenStream(CallScope scope, Kind kind, StreamSet& streams,
                       grpc::CallbackServerContext* context)
    : scope_(scope),
      kind_(kind),
      streams_(streams),
      context_(context),
      begin_(steady_clock::now()),
      is_counted_(scope.in_flight.Begin()) {
  scope_.metrics.RpcStarted(kind_.method);
}

void OpenStream::OwnWorker(std::string* worker_id) const {
  *worker_id = access::WorkerKey(principal_->name, *worker_id);
}

absl::StatusOr<access::Admitted> OpenStream::AdmitNow() const {
  const auto& metadata = context_->client_metadata();
  return rpc::Admit(scope_.authenticator, caller_,
                    {MetadataOf(*context_, kAuthorization), metadata.count(kAuthorization),
                     scope_.has_tls, kind_.method});
}

absl::StatusOr<access::Admitted> OpenStream::AdmitAgain() const {
  ASSIGN_OR_RETURN(access::Admitted admitted, AdmitNow());
  if (admitted.principal->name != principal_->name) {
    return access::InvalidCredentials("they prove another principal than when the stream began");
  }
  RETURN_IF_ERROR(CheckMethod(admitted.grants, principal_->name, kind_.method));
  return admitted;
}

absl::Status OpenStream::Admit() {
  if (!is_counted_) return BrokerIsDraining();
  caller_ = CallerOf(*context_, scope_.is_passed_on);
  if (!scope_.is_passed_on) {
    tally_ = scope_.tally.Begin(caller_.address, static_cast<int64_t>(
        MetadataOf(*context_, kAuthorization).size()));
  }
  ASSIGN_OR_RETURN(admitted_, AdmitNow());
  principal_ = admitted_.principal;
  RETURN_IF_ERROR(CheckMethod(admitted_.grants, principal_->name, kind_.method));
  const InFlight::Room room = scope_.in_flight.Hold(party(), 0, true, &holding_);
  if (room != InFlight::Room::kGranted) return NoRoom(party(), room, scope_.in_flight);
  constexpr InFlight::WaitFor kWhat = InFlight::WaitFor::kTasks;
  const InFlight::Parking parking = scope_.in_flight.Park(caller_.address, kWhat, holding_);
  if (parking != InFlight::Parking::kGranted) {
    return NoPlaceToWait(*principal_, parking, scope_.in_flight, kWhat);
  }
  is_parked_ = true;
  is_listed_ = streams_.Add(this);
  if (!is_listed_) return BrokerIsDraining();
  scope_.metrics.AddStreams(kind_.name, 1);
  return absl::OkStatus();
}

void OpenStream::CountRead(int64_t bytes) {
  if (tally_ != nullptr) tally_->bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void OpenStream::BeginWrite(int64_t bytes) {
  if (tally_ != nullptr) CallTally::BeginAnswer(*tally_, bytes);
}

void OpenStream::EndWrite(int64_t bytes, bool is_read) {
  if (tally_ != nullptr) CallTally::EndAnswer(*tally_, bytes, is_read);
}

void OpenStream::TellEnd(const absl::Status& end) {
  if (end.ok() || absl::IsCancelled(end)) return;
  if (absl::IsResourceExhausted(end)) scope_.metrics.RpcExhausted(base::ReasonOf(end));
  if (absl::IsPermissionDenied(end) && principal_ != nullptr) {
    LogDenied("principal", principal_->name, kind_.method, end);
  }
  for (const auto& [name, value] : TrailersOf(end)) context_->AddTrailingMetadata(name, value);
}

OpenStream::Left OpenStream::Leave(const absl::Status& end, bool is_broken) {
  if (is_listed_) {
    streams_.Remove(this);
    scope_.metrics.AddStreams(kind_.name, -1);
  }
  if (tally_ != nullptr) {
    tally_->calls.fetch_sub(1, std::memory_order_relaxed);
    if (!is_broken) tally_->answered.fetch_add(1, std::memory_order_relaxed);
  }
  const auto duration = absl::FromChrono(steady_clock::now() - begin_);
  const std::string code = CodeName(static_cast<grpc::StatusCode>(end.code()));
  scope_.metrics.RpcEnded(kind_.method, code, duration);
  if (is_parked_) {
    scope_.in_flight.Unpark(caller_.address, InFlight::WaitFor::kTasks, holding_);
  }
  return {is_counted_ ? &scope_.in_flight : nullptr, holding_};
}

}  // namespace skiplane::rpc
