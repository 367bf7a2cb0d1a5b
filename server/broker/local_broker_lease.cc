#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/broker/lease/deferred_lease.h"
#include "server/broker/lease/wanted.h"
#include "server/broker/local_broker.h"
#include "server/model/limits.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kRenewAfter(50);

std::vector<std::string> NamesOf(const LeaseCall& call) {
  std::vector<std::string> names;
  for (const LeaseQueue& queue : call.queues) names.push_back(queue.name);
  return names;
}

std::string NameFieldOf(size_t queue) { return absl::StrCat("queues[", queue, "].name"); }

// A call that waits for tasks lets none in.
void Detach(QueueCache::Queues& queues) {
  for (QueuePtr& queue : queues) queue = QueueCache::Detached(queue);
}

// The stages that it names are there, and its places in lists are not too many.
absl::Status CheckLaneStages(const LeaseCall& call, const QueueCache::Queues& queues) {
  for (size_t i = 0; i < queues.size(); ++i) {
    const std::string& stage = call.queues[i].stage;
    if (stage.empty() || queues[i]->settings.FindStage(stage).has_value()) continue;
    return base::InvalidField(absl::StrCat("queues[", i, "].stage"),
                              absl::StrCat("is not a stage of queue \"", queues[i]->name, "\""));
  }
  const int64_t lane_stages = CountLaneStages(call, queues);
  if (lane_stages <= model::kLaneStagesPerLeaseMax) return absl::OkStatus();
  return base::InvalidField(
      "queues", absl::StrCat("have ", lane_stages, " stages in all their lanes together, and may "
                             "have ", model::kLaneStagesPerLeaseMax,
                             ": name fewer queues, or single stages of them"));
}

}  // namespace

std::shared_ptr<PendingLease> LocalBroker::Lease(LeaseCall call, Callback<LeaseAnswer> done) {
  auto later = std::make_shared<DeferredLease>();
  auto asked = std::make_shared<LeaseCall>(std::move(call));
  queues_.Find(
      {asked->principal, asked->party}, NamesOf(*asked), &NameFieldOf,
      [asked](const QueueCache::Queues& queues) { return CheckLaneStages(*asked, queues); },
      [this, later, asked, done = std::move(done)](
          absl::StatusOr<QueueCache::Queues> queues) mutable {
        if (!queues.ok()) return done(queues.status());
        const absl::Status taken = TakeWorker(*asked, *queues->front());
        if (!taken.ok()) return done(taken);
        RenewSoon(*asked, *queues->front());
        Detach(*queues);
        later->Become(dispatcher_.Lease(std::move(*asked), *queues, std::move(done)));
      });
  return later;
}

// Also where the call is dealt nothing: whether it makes a session is known later.
absl::Status LocalBroker::TakeWorker(const LeaseCall& call, const model::Queue& first) {
  if (call.worker_id.empty() || !call.moves_session) return absl::OkStatus();
  const absl::Duration lives = call.lease_duration.value_or(DefaultDuration(call, first));
  return worker_shares_.Take(call.party, call.worker_id, call.began, lives);
}

// A lease that hands tasks out renews the session itself. One that does not, or not soon, must move
// the session ahead all the same.
void LocalBroker::RenewSoon(const LeaseCall& call, const model::Queue& first) {
  const std::string& worker_id = call.worker_id;
  const absl::Duration duration = call.lease_duration.value_or(DefaultDuration(call, first));
  if (worker_id.empty() || !call.moves_session) return;
  if (sessions_.FindLiving(worker_id, duration).has_value()) return;
  timer_.After(kRenewAfter, [this, worker_id, duration] { renewer_.Renew(worker_id, duration); });
}

void LocalBroker::Settle(std::vector<model::SettleItem> items, const std::string& party,
                         Callback<std::vector<model::SettleResult>> done) {
  settler_.Settle(std::move(items), party, nullptr, std::move(done));
}

std::shared_ptr<PendingLease> LocalBroker::SettleAndLease(SettleAndLeaseCall call,
                                                          Callback<SettleAndLeaseAnswer> done) {
  auto next = std::make_shared<SettleAndLeaseOperation>(
      std::move(call.lease), std::move(done), [this](const LeaseAnswer& late) { HandBack(late); });
  const LeaseCall asked = next->Call();
  queues_.Find(
      {asked.principal, asked.party}, NamesOf(asked), &NameFieldOf,
      [next](const QueueCache::Queues& queues) { return CheckLaneStages(next->Call(), queues); },
      [this, next, items = std::move(call.items)](
          absl::StatusOr<QueueCache::Queues> queues) mutable {
        const LeaseCall lease = next->Call();
        absl::Status status = queues.status();
        if (status.ok()) status = TakeWorker(lease, *queues->front());
        if (!status.ok()) return next->Refuse(base::PrefixField("lease_next.", status));
        RenewSoon(lease, *queues->front());
        Detach(*queues);
        next->SetQueues(*std::move(queues));
        settler_.Settle(std::move(items), lease.party, next,
                        [this, next](absl::StatusOr<std::vector<model::SettleResult>> results) {
                          if (next->Settled(std::move(results))) dispatcher_.LeaseAfter(next);
                        });
      });
  return next;
}

void LocalBroker::Heartbeat(HeartbeatCall call, Callback<HeartbeatAnswer> done) {
  const absl::Status taken =
      call.end_session
          ? worker_shares_.TakeEnd(call.party, call.worker_id, call.began)
          : worker_shares_.Take(call.party, call.worker_id, call.began, call.lease_duration);
  // One that asks for no time is not refused: its worker may be new to this broker only.
  const bool asks = call.end_session || call.lease_duration > absl::ZeroDuration();
  if (!taken.ok() && asks) return done(taken);
  if (call.end_session) return ender_.End(std::move(call), std::move(done));
  renewer_.Heartbeat(std::move(call), std::move(done));
}

void LocalBroker::OpenSession(OpenSessionCall call, Callback<OpenSessionAnswer> done) {
  auto asked = std::make_shared<OpenSessionCall>(std::move(call));
  queues_.Find(
      {asked->lease.principal, asked->lease.party}, NamesOf(asked->lease), &NameFieldOf,
      [asked](const QueueCache::Queues& queues) { return CheckLaneStages(asked->lease, queues); },
      [this, asked, done = std::move(done)](absl::StatusOr<QueueCache::Queues> queues) mutable {
        if (!queues.ok()) return done(queues.status());
        LeaseCall& lease = asked->lease;
        lease.lease_duration =
            lease.lease_duration.value_or(DefaultDuration(lease, *queues->front()));
        const absl::Status taken = TakeWorker(lease, *queues->front());
        if (!taken.ok()) return done(taken);
        opener_.Open(std::move(*asked), std::move(done));
      });
}

void LocalBroker::HandBack(const LeaseAnswer& undelivered) {
  std::vector<model::LeaseToken> tokens;
  for (const model::LeasedTask& task : undelivered.tasks) tokens.push_back(task.token);
  if (tokens.empty()) return;
  context_.metrics.OrphanLeasesReleased(static_cast<int64_t>(tokens.size()));
  settler_.Release(std::move(tokens));
}

}  // namespace skiplane::broker
