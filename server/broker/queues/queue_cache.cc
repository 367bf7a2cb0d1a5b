#include "server/broker/queues/queue_cache.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

constexpr int kPageQueues = 1000;

// What calls hold: released with the last of them, while others go on with the queue itself.
struct Holder {
  QueuePtr detached;
  void operator()(const model::Queue*) const {}
};

bool IsNewer(const model::Queue& queue, const model::Queue& known) {
  return std::pair(queue.id, queue.version) > std::pair(known.id, known.version);
}

}  // namespace

absl::Duration DefaultDuration(const LeaseCall& call, const model::Queue& first) {
  const auto stage = first.settings.FindStage(call.queues.front().stage);
  return stage.has_value() ? first.settings.LeaseDurationOf(*stage) : first.settings.lease_duration;
}

QueueCache::QueueCache(Context& context, bool create_missing, NewQueues& new_queues,
                       Listeners listeners)
    : context_(context),
      create_missing_(create_missing),
      new_queues_(new_queues),
      listeners_(std::move(listeners)) {}

bool QueueCache::IsBelieved() const {
  return std::chrono::steady_clock::now().time_since_epoch().count() < believed_until_;
}

absl::Status QueueCache::CheckStays(pg::Session& session, const model::Queue& queue) {
  if (IsBelieved()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const QueuePtr now, Reload(session, queue.name));
  if (now->id != queue.id) return store::QueueNotFound(queue.name);
  return now->IsDeleting() ? store::QueueDeleting(queue.name) : absl::OkStatus();
}

QueuePtr QueueCache::Known(const std::string& name) const {
  return IsBelieved() ? Latest(name) : nullptr;
}

QueuePtr QueueCache::Latest(const std::string& name) const {
  base::MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void QueueCache::Find(const Caller& caller, std::vector<std::string> names,
                      absl::AnyInvocable<std::string(size_t)> field_of,
                      absl::AnyInvocable<absl::Status(const Queues&)> check,
                      absl::AnyInvocable<void(absl::StatusOr<Queues>)> done) {
  Queues known;
  for (const std::string& name : names) {
    QueuePtr queue = Known(name);
    if (queue == nullptr) break;
    known.push_back(std::move(queue));
  }
  if (known.size() == names.size() && check(known).ok()) {
    done(std::move(known));
    return;
  }
  auto look = [this, principal = caller.principal, field_of = std::move(field_of),
               names = std::move(names), check = std::move(check),
               done = std::move(done)](absl::StatusOr<pg::Session*> session) mutable {
    if (!session.ok()) return done(session.status());
    absl::StatusOr<Queues> found = GetAll(**session, principal, names, field_of);
    if (!found.ok()) return done(found.status());
    absl::Status status = check(*found);
    if (!status.ok()) {
      for (size_t i = 0; i < names.size(); ++i) {
        absl::StatusOr<QueuePtr> queue = Reload(**session, names[i]);
        if (!queue.ok()) return done(queue.status());
        (*found)[i] = *std::move(queue);
      }
      status = check(*found);
    }
    done(status.ok() ? std::move(found) : absl::StatusOr<Queues>(std::move(status)));
  };
  context_.turns.Submit(TurnOf::kWork, caller.party, std::move(look));
}

absl::StatusOr<QueueCache::Queues> QueueCache::GetAll(
    pg::Session& session, const std::string& principal, const std::vector<std::string>& names,
    absl::AnyInvocable<std::string(size_t)>& field_of) {
  Queues found;
  for (const std::string& name : names) {
    absl::StatusOr<QueuePtr> queue = Get(session, name, principal);
    if (!queue.ok()) {
      return base::BlameField("QUEUE_NOT_FOUND", field_of(found.size()), queue.status());
    }
    found.push_back(*std::move(queue));
  }
  return found;
}

absl::StatusOr<QueuePtr> QueueCache::Get(pg::Session& session, const std::string& name,
                                         const std::string& principal) {
  QueuePtr queue = Known(name);
  if (queue != nullptr) return queue;
  absl::StatusOr<QueuePtr> found = ReloadOrCreate(session, name, principal);
  // Of the call itself nothing was done.
  if (IsOutcomeUnknown(found.status())) return RepeatLater();
  return found;
}

absl::StatusOr<QueuePtr> QueueCache::GetExisting(pg::Session& session, const std::string& name,
                                                 absl::string_view field) {
  QueuePtr queue = Known(name);
  if (queue != nullptr) return queue;
  absl::StatusOr<QueuePtr> found = Reload(session, name);
  if (found.ok()) return found;
  return base::BlameField("QUEUE_NOT_FOUND", field, found.status());
}

absl::Status QueueCache::Check(pg::Session& session, QueuePtr* queue,
                               absl::FunctionRef<absl::Status(const model::Queue&)> check) {
  if (check(**queue).ok()) return absl::OkStatus();
  ASSIGN_OR_RETURN(*queue, Reload(session, (*queue)->name));
  return check(**queue);
}

absl::StatusOr<std::optional<int16_t>> QueueCache::StageOf(pg::Session& session, QueuePtr queue,
                                                           absl::string_view stage,
                                                           absl::string_view field) {
  if (stage.empty()) return std::nullopt;
  RETURN_IF_ERROR(Check(session, &queue, [stage, field](const model::Queue& known) {
    if (known.settings.FindStage(stage).has_value()) return absl::OkStatus();
    return base::InvalidField(field,
                              absl::StrCat("is not a stage of queue \"", known.name, "\""));
  }));
  return queue->settings.FindStage(stage);
}

absl::StatusOr<QueuePtr> QueueCache::ReloadOrCreate(pg::Session& session, const std::string& name,
                                                    const std::string& principal) {
  absl::StatusOr<QueuePtr> queue = Reload(session, name);
  if (!create_missing_ || !absl::IsNotFound(queue.status())) return queue;
  RETURN_IF_ERROR(new_queues_.Take(principal, std::chrono::steady_clock::now()));
  const absl::StatusOr<bool> is_new =
      store::CreateQueue(session, name, model::QueueSettings(), 1);
  if (!is_new.ok() || !*is_new) new_queues_.GiveBack(principal);
  RETURN_IF_ERROR(is_new.status());
  return Reload(session, name);
}

absl::StatusOr<QueuePtr> QueueCache::Reload(pg::Session& session, const std::string& name) {
  const QueuePtr before = Latest(name);
  absl::StatusOr<model::Queue> queue = store::GetQueue(session, name);
  if (absl::IsNotFound(queue.status()) && before != nullptr) Forget(before);
  RETURN_IF_ERROR(queue.status());
  return Learn(*std::move(queue));
}

absl::Status QueueCache::ReloadAll(pg::Session& session) {
  absl::flat_hash_set<std::string> unseen;
  for (const QueuePtr& queue : All()) unseen.insert(queue->name);
  std::string after;
  bool is_last = false;
  while (!is_last) {
    ASSIGN_OR_RETURN(std::vector<model::Queue> page,
                     store::ListQueues(session, after, kPageQueues));
    is_last = page.size() < kPageQueues;
    if (!page.empty()) after = page.back().name;
    for (model::Queue& queue : page) {
      unseen.erase(queue.name);
      Learn(std::move(queue));
    }
  }
  for (const std::string& name : unseen) {
    const absl::Status status = Reload(session, name).status();
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<QueueCache::Queues> QueueCache::Visible(pg::Session& session,
                                                       const std::string& name,
                                                       const Permit& permit) {
  if (!name.empty()) {
    ASSIGN_OR_RETURN(QueuePtr queue, GetExisting(session, name, "queue"));
    return Queues{std::move(queue)};
  }
  if (All().empty()) RETURN_IF_ERROR(ReloadAll(session));
  Queues queues = All();
  std::erase_if(queues, [&permit](const QueuePtr& queue) {
    return !Ask(permit, queue->name).ok();
  });
  return queues;
}

QueuePtr QueueCache::Learn(model::Queue queue) {
  const auto detached = std::make_shared<const model::Queue>(std::move(queue));
  const QueuePtr learnt(detached.get(), Holder{detached});
  QueuePtr gone;
  {
    base::MutexLock lock(mutex_);
    QueuePtr& known = by_name_[learnt->name];
    if (known != nullptr && !IsNewer(*learnt, *known)) return known;
    if (gone_.contains(learnt->id)) {  // it was read before it was deleted: who read it is refused
      if (known == nullptr) by_name_.erase(learnt->name);
      const auto dead = std::make_shared<model::Queue>(*learnt);
      dead->deletion.emplace();
      return dead;
    }
    if (known != nullptr && known->id != learnt->id) {
      gone = Detached(known);
      gone_.insert(known->id);
    }
    Supersede(known);
    known = learnt;
    for (const int64_t lane : learnt->lanes) by_lane_[lane] = learnt;
  }
  if (gone != nullptr) listeners_.on_gone(gone);
  listeners_.on_change(detached);
  return learnt;
}

// Unless another version has come meanwhile.
void QueueCache::Forget(const QueuePtr& known) {
  {
    base::MutexLock lock(mutex_);
    const auto found = by_name_.find(known->name);
    if (found == by_name_.end() || found->second != known) return;
    for (const int64_t lane : known->lanes) by_lane_.erase(lane);
    superseded_.erase(known->id);
    gone_.insert(known->id);
    by_name_.erase(found);
  }
  listeners_.on_gone(Detached(known));
}

// It is known no more, but calls may have it.
void QueueCache::Supersede(QueuePtr& known) {
  if (known == nullptr) return;
  std::vector<std::weak_ptr<const model::Queue>>& held = superseded_[known->id];
  std::erase_if(held, [](const auto& version) { return version.expired(); });
  const std::weak_ptr<const model::Queue> version = known;
  for (const int64_t lane : known->lanes) by_lane_.erase(lane);
  const int64_t id = known->id;
  known = nullptr;
  if (!version.expired()) held.push_back(version);
  if (held.empty()) superseded_.erase(id);
}

QueuePtr QueueCache::Detached(const QueuePtr& queue) {
  const Holder* const holder = std::get_deleter<Holder>(queue);
  return holder == nullptr ? queue : holder->detached;
}

std::vector<model::SessionId> QueueCache::ConfirmedDeletions() {
  base::MutexLock lock(mutex_);
  std::vector<model::SessionId> confirmed;
  for (const auto& [name, queue] : by_name_) {
    if (!queue->IsDeleting()) continue;
    const auto held = superseded_.find(queue->id);
    const auto is_held = [](const auto& version) { return !version.expired(); };
    if (held == superseded_.end() || std::ranges::none_of(held->second, is_held)) {
      confirmed.push_back(*queue->deletion);
    }
  }
  return confirmed;
}

QueuePtr QueueCache::OfLane(int64_t lane) const {
  base::MutexLock lock(mutex_);
  const auto found = by_lane_.find(lane);
  return found == by_lane_.end() ? nullptr : found->second;
}

absl::StatusOr<QueuePtr> QueueCache::FindLane(pg::Session& session, int64_t lane) {
  QueuePtr queue = OfLane(lane);
  if (queue != nullptr) return queue;
  ASSIGN_OR_RETURN(std::optional<model::Queue> found, store::QueueOfLane(session, lane));
  if (!found.has_value()) return nullptr;
  return Learn(*std::move(found));
}

std::vector<QueuePtr> QueueCache::All() const {
  base::MutexLock lock(mutex_);
  std::vector<QueuePtr> all;
  for (const auto& [name, queue] : by_name_) all.push_back(queue);
  return all;
}

}  // namespace skiplane::broker
