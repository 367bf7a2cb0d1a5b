#include "server/rpc/broker/work_stream.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_heartbeat.h"
#include "server/rpc/broker/convert_stream.h"
#include "server/rpc/broker/lost_lease.h"
#include "server/rpc/broker/permit_settle.h"
#include "server/rpc/broker/seal_tokens.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kSettlements = "settlements";

const model::LeaseToken& TokenOf(const model::SettleItem& item) {
  return std::visit([](const auto& one) -> const model::LeaseToken& { return one.token; }, item);
}

}  // namespace

v1::WorkResponse* WorkStream::response() {
  if (response_ == nullptr) response_ = std::make_unique<v1::WorkResponse>();
  return response_.get();
}

absl::Status WorkStream::OnMessage(const grpc::ByteBuffer& bytes, absl::StatusOr<HoldPtr> hold) {
  v1::WorkRequest request;
  RETURN_IF_ERROR(ParseMessage(bytes, &request));
  if (request.has_hello() == is_greeted_) {
    return InvalidField({"hello"}, is_greeted_ ? "must be unset after the first message"
                                               : "is required in the first message");
  }
  if (request.has_hello()) {
    RETURN_IF_ERROR(hold.status());
    First first{std::make_unique<v1::WorkRequest>(), *std::move(hold), {}, {}};
    first.request->Swap(&request);
    return Greet(std::move(first));
  }
  RETURN_IF_ERROR(TakeCredit(request));
  absl::Status permitted = Permit(grants(), &lease_);  // the rules may have changed
  RETURN_IF_ERROR(SettleAndRenew(&request, hold));
  bool looks = false;  // for what the worker settled by calls
  Update([&] {
    denied_ = std::move(permitted);
    EndIfDenied();
    looks = held_.size() >= size_t{model::kHelloLeasesMax} || !denied_.ok();
  });
  Fetch();
  if (request.has_heartbeat() && looks) OnLeasesTaken();
  return absl::OkStatus();
}

absl::Status WorkStream::SettleAndRenew(v1::WorkRequest* request,
                                        const absl::StatusOr<HoldPtr>& hold) {
  RETURN_IF_ERROR(Settle(request, hold));
  return request->has_heartbeat() ? Renew(request->mutable_heartbeat(), hold) : absl::OkStatus();
}

// Of one settlement, as if it were a call of its own.
absl::StatusOr<SettleCall> WorkStream::ReadOne(v1::SettleItem* item) {
  v1::SettleRequest request;
  request.add_items()->Swap(item);
  absl::Status opened = OpenTokens(seal(), &request);
  absl::StatusOr<SettleCall> read = opened.ok() ? ReadSettle(&request) : opened;
  if (!read.ok()) return base::RenameField("items[0].", "item.", read.status());
  SettleCall& call = *read;
  RETURN_IF_ERROR(Permit(grants(), &call));
  OwnFollowUps(ProvenName(), PartyName(), call);
  return read;
}

absl::Status WorkStream::Settle(v1::WorkRequest* request, const absl::StatusOr<HoldPtr>& hold) {
  const int count = request->settlements_size();
  RETURN_IF_ERROR(CheckCount(count, {0, model::kTasksPerCallMax}, {kSettlements}));
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckNext(request->settlements(i).number(),
                              {"number", kSettlements, static_cast<size_t>(i)},
                              &last_settlement_));
  }
  if (count == 0) return absl::OkStatus();
  Update([&] { AddUnanswered(count); });
  Settlements good;
  for (v1::WorkSettlement& settlement : *request->mutable_settlements()) {
    absl::StatusOr<SettleCall> one =
        hold.ok() ? ReadOne(settlement.mutable_item()) : hold.status();
    if (!one.ok()) {
      AnswerSettled({{settlement.number(), {}}}, one.status());
      continue;
    }
    model::SettleItem& item = one->items[0];
    good.settled.push_back({settlement.number(), TokenOf(item)});
    good.call.items.push_back(std::move(item));
    good.call.paths.push_back(one->paths[0]);
  }
  if (good.settled.empty()) return absl::OkStatus();
  broker_.Settle(std::move(good.call.items), lease_.party,
                 [this, held = *hold, paths = std::move(good.call.paths),
                  settled = std::move(good.settled)](
                     absl::StatusOr<std::vector<model::SettleResult>> results) mutable {
                   held.reset();  // before the stream may go
                   if (results.ok()) {
                     CountLost("settle", *results, metrics());
                     NamePaths(paths, &*results);
                   }
                   AnswerSettled(settled, std::move(results));
                 });
  return absl::OkStatus();
}

void WorkStream::AnswerSettled(const std::vector<Settled>& settled,
                               absl::StatusOr<std::vector<model::SettleResult>> results) {
  Update([&] {
    for (size_t i = 0; i < settled.size(); ++i) {
      v1::WorkResult* const result = response()->add_results();
      result->set_number(settled[i].number);
      if (results.ok()) {
        if ((*results)[i].outcome != model::SettleOutcome::kRefused) Over(settled[i].lease);
        WriteResult(&(*results)[i], result->mutable_result());
      } else {
        WriteStreamRefusal(results.status(), result->mutable_refusal());
      }
      unsent_.Add(*result);
    }
    AddUnanswered(-static_cast<int64_t>(settled.size()));
  });
}

absl::Status WorkStream::Renew(v1::WorkHeartbeat* heartbeat, const absl::StatusOr<HoldPtr>& hold) {
  const int64_t number = heartbeat->number();
  RETURN_IF_ERROR(CheckNext(number, {"heartbeat.number"}, &last_heartbeat_));
  v1::HeartbeatRequest request;
  request.set_worker_id(worker_id_);
  request.mutable_leases()->Swap(heartbeat->mutable_leases());
  const bool ends = heartbeat->end_session();
  request.set_end_session(ends);
  Update([&] {
    AddUnanswered(1);
    if (ends) ++ends_;
  });
  if (ends) EndFetch();
  absl::Status status = hold.status();
  if (status.ok()) status = OpenTokens(seal(), &request);
  absl::StatusOr<broker::HeartbeatCall> call = status.ok() ? ReadHeartbeat(&request) : status;
  if (!call.ok()) {
    AnswerRenewed(number, ends, {}, {}, base::PrefixField("heartbeat.", call.status()));
    return absl::OkStatus();
  }
  call->worker_id = lease_.worker_id;
  call->lease_duration = lease_.lease_duration.value_or(absl::ZeroDuration());
  call->party = lease_.party;
  std::vector<model::LeaseToken> leases;
  for (const model::HeldLease& lease : call->leases) leases.push_back(lease.token);
  broker_.Heartbeat(*std::move(call),
                    [this, number, ends, leases = std::move(leases), held = *hold,
                     heard = std::chrono::steady_clock::now()](
                        absl::StatusOr<broker::HeartbeatAnswer> answer) mutable {
                      held.reset();  // before the stream may go
                      AnswerRenewed(number, ends, heard, leases, std::move(answer));
                    });
  return absl::OkStatus();
}

// A heartbeat may come after the end that the worker says behind it: then its leases are over
// because the worker says so. An end that is refused has ended nothing, and tasks are pushed again.
void WorkStream::AnswerRenewed(int64_t number, bool ends, base::SteadyTime heard,
                               const Leases& leases,
                               absl::StatusOr<broker::HeartbeatAnswer> answer) {
  bool is_quiet = false;
  Update([&] {
    v1::WorkHeartbeatResult* const result = response()->add_heartbeats();
    result->set_number(number);
    if (answer.ok()) {
      is_quiet = is_quiet_ = answer->command != model::WorkerCommand::kRun;
      const bool is_own_end = ends_ > 0;
      if (!is_own_end) CountLost(*answer, metrics());
      if (answer->session_alive) heard_ = std::max(heard_, heard);
      WriteHeartbeat(&*answer, result->mutable_response());
      if (!answer->session_alive && !is_own_end) LoseAll();
      for (size_t i = 0; i < leases.size() && i < answer->states.size(); ++i) {
        if (answer->states[i] == model::LeaseState::kLost) Over(leases[i]);
      }
    } else {
      if (ends) --ends_;
      WriteStreamRefusal(answer.status(), result->mutable_refusal());
    }
    unsent_.Add(*result);
  });
  if (is_quiet) EndFetch();
  Fetch();
  Update([this] { AddUnanswered(-1); });
}

}  // namespace skiplane::rpc
