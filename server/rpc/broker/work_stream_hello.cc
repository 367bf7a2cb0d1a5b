#include <utility>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/rpc/broker/convert_stream.h"
#include "server/rpc/broker/work_stream.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {
namespace {

LeaseNumbers NumbersOf(const std::vector<model::LeaseToken>& leases) {
  LeaseNumbers numbers;
  for (const model::LeaseToken& lease : leases) numbers.insert({lease.task, lease.lease_number});
  return numbers;
}

}  // namespace

// Until the hello is answered nothing more is read, and what its message says beside it waits: a
// heartbeat would not find the session, and no answer comes before the welcome.
absl::Status WorkStream::Greet(First first) {
  v1::WorkHello* const hello = first.request->mutable_hello();
  worker_id_ = hello->worker_id();
  first.tokens.reserve(static_cast<size_t>(hello->leases_size()));
  for (const v1::HeldLease& lease : hello->leases()) first.tokens.push_back(lease.lease_token());
  absl::StatusOr<broker::OpenSessionCall> call = ReadHello(seal(), hello);
  if (!call.ok()) return base::PrefixField("hello.", call.status());
  const absl::Status permitted = Permit(grants(), &call->lease);
  if (!permitted.ok()) return base::PrefixField("hello.", permitted);
  NameCaller(*this, call->lease);
  Update([&] {
    lease_ = call->lease;
    heard_ = std::chrono::steady_clock::now();
    is_greeting_ = true;
    SetPaused(true);
  });
  RETURN_IF_ERROR(TakeCredit(*first.request));
  is_greeted_ = true;
  workers_.Add(this, call->lease.worker_id);
  first.leases = call->leases;
  Update([this] { AddUnanswered(1); });
  broker_.OpenSession(*std::move(call),
                      [this, first = std::move(first)](
                          absl::StatusOr<broker::OpenSessionAnswer> answer) mutable {
                        Opened(std::move(first), answer);
                      });
  return absl::OkStatus();
}

void WorkStream::Opened(First first, const absl::StatusOr<broker::OpenSessionAnswer>& answer) {
  if (answer.ok()) {
    workers_.Opened(this, answer->session, NumbersOf(first.leases));
  } else {
    workers_.Refused(this);
  }
  bool goes_on = false;
  Update([&] {
    is_greeting_ = false;
    if (answer.ok()) {
      Welcome(&first, *answer);
    } else {
      EndWith(base::PrefixField("hello.", answer.status()));
    }
    goes_on = !is_ending();
  });
  absl::Status status;
  if (goes_on) status = SettleAndRenew(first.request.get(), first.hold);
  Fetch();
  first = {};  // before the stream may go
  Update([&] {
    SetPaused(false);
    if (!status.ok()) EndWith(std::move(status));
    AddUnanswered(-1);
  });
}

void WorkStream::Welcome(First* first, const broker::OpenSessionAnswer& answer) {
  WriteWelcome(answer, response()->mutable_welcome());
  for (size_t i = 0; i < first->leases.size(); ++i) {
    Held(first->leases[i], std::move(first->tokens[i]), answer.states[i]);
  }
  lease_duration_ = answer.lease_duration;
  is_quiet_ = answer.command != model::WorkerCommand::kRun;
  is_welcome_ = true;
}

}  // namespace skiplane::rpc
