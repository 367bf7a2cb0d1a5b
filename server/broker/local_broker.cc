#include "server/broker/local_broker.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "server/base/log.h"
#include "server/model/limits.h"
#include "server/store/peers.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::seconds kRenewEvery(2);
constexpr absl::Duration kRowLives = absl::Seconds(7);
constexpr std::chrono::seconds kBelieved(5);  // less: who does not see the row asks us no more
constexpr std::chrono::seconds kQueuesEvery(5);

std::string OriginIdOf(const pg::Uuid& id) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(id.data()), id.size()));
}

// Whether a broker that fell silent still has connections tells whether it may go on.
BrokerOptions WithOwnName(BrokerOptions options) {
  options.connect.application_name = store::ApplicationName(options.id);
  return options;
}

}  // namespace

LocalBroker::LocalBroker(BrokerOptions options, metrics::Metrics& metrics,
                         absl::AnyInvocable<void(bool)> on_connected)
    : options_(WithOwnName(std::move(options))),
      pool_(options_.connect, options_.connections, &metrics, std::move(on_connected)),
      turns_(pool_, options_.connections),
      context_{pool_, turns_, timer_, metrics, OriginIdOf(options_.id),
               [this](int64_t lane, absl::Span<const int64_t> tasks) {
                 waiters_.Ended(lane, tasks);
                 notifier_.Ended(lane, peer_awaits_.Take(lane, tasks));
               }},
      sessions_(model::kKnownSessionsMax),
      worker_shares_(options_.workers_of_party_max),
      tracker_(model::kTrackedLeasesMax),
      notifier_(context_),
      waiters_(context_, options_.await_times,
               [this](const model::TaskId& task) { return notifier_.Awaited(task); },
               [this](const std::string& party) { return lists_.IsFullFor(party); }),
      peer_awaits_(metrics),
      new_queues_(options_.new_queues),
      queues_(context_, options_.create_missing_queues, new_queues_,
              {.on_change = [this](QueuePtr queue) { dispatcher_.QueueChanged(queue); },
               .on_gone = [this](QueuePtr queue) { OnQueueGone(queue); }}),
      dispatcher_(
          context_, sessions_, tracker_,
          [this](std::vector<model::LeaseToken> tokens) { settler_.Release(std::move(tokens)); },
          {options_.waiting_calls_max, options_.new_queues.principal_share}),
      enqueuer_(context_, queues_, options_.hands_off ? &dispatcher_ : nullptr,
                [this](const store::Enqueued& written) {
                  OnTasksUnleased(written.unleased, written.now);
                }),
      settler_(context_, queues_, tracker_, enqueuer_, dispatcher_, OnCommit()),
      renewer_(context_, sessions_),
      lists_({model::kListsBytesMax, options_.new_queues.principal_share},
             [this] { waiters_.OnRoom(); }),
      ender_(context_, queues_, sessions_, OnCommit(),
             [this](const std::vector<pg::Uuid>& ended) {
               looker_.Gone(ended);
               notifier_.SessionsGone(ended);
             }),
      opener_(context_, sessions_,
              [this](std::vector<model::LeaseToken> unknown) {
                context_.metrics.OrphanLeasesReleased(static_cast<int64_t>(unknown.size()));
                settler_.Release(std::move(unknown));
              }),
      looker_(context_),
      minutes_(context_),
      admin_(context_, queues_, new_queues_, notifier_, lists_),
      operator_(context_, queues_, dispatcher_, enqueuer_, queue_watch_,
                {options_.id, options_.name, options_.version, options_.commit,
                 options_.connections},
                lists_, waiters_,
                {.on_commit = OnCommit(),
                 .on_queues_changed =
                     [this] {
                       notifier_.QueuesChanged();
                       RenewRow();
                     }}),
      sampler_(context_, queues_, dispatcher_, queue_watch_),
      listener_(
          options_.connect, store::kNotificationChannel,
          [this](absl::string_view payload) { OnNotification(payload); },
          [this](bool listening) {
            dispatcher_.SetListening(listening);
            if (!listening || is_stopped_) return;
            RefreshQueues();
            RefreshTokenKeys();
            waiters_.LookForAll();
            looker_.Taken();
            has_beaten_ = false;     // what others told meanwhile was missed: let them tell again
            has_new_peers_ = true;  // and one that started meanwhile does not know what we await
            RenewRow();
          },
          &metrics) {
  KeepRenewing();
  KeepRefreshing();
  sampler_.Start();
  minutes_.Start();
  operator_.Start();
}

// A commit of this broker left tasks unleased, ready or scheduled: here and elsewhere somebody may
// wait for them.
void LocalBroker::OnTasksUnleased(const std::vector<store::UnleasedTasks>& unleased,
                                  absl::Time now) {
  dispatcher_.Committed(unleased, now);
  for (const store::UnleasedTasks& tasks : unleased) notifier_.Tasks(tasks);
}

Settler::OnCommit LocalBroker::OnCommit() {
  return [this](const std::vector<store::UnleasedTasks>& unleased, absl::Time now) {
    OnTasksUnleased(unleased, now);
  };
}

LocalBroker::~LocalBroker() { Stop(); }

void LocalBroker::Enqueue(EnqueueCall call, Callback<std::vector<EnqueueResult>> done) {
  enqueuer_.Enqueue(std::move(call), std::move(done));
}

void LocalBroker::CreateQueue(CreateQueueCall call, Callback<model::Queue> done) {
  admin_.Create(std::move(call), std::move(done));
}

void LocalBroker::GetQueue(GetQueueCall call, Callback<QueueWithCounts> done) {
  admin_.Get(std::move(call), std::move(done));
}

void LocalBroker::ListQueues(ListQueuesCall call, Callback<model::Page<model::Queue>> done) {
  admin_.List(std::move(call), std::move(done));
}

void LocalBroker::UpdateQueue(UpdateQueueCall call, Callback<model::Queue> done) {
  admin_.Update(std::move(call), std::move(done));
}

void LocalBroker::PauseQueue(PauseQueueCall call, Callback<model::Queue> done) {
  admin_.Pause(std::move(call), std::move(done));
}

void LocalBroker::BeginDrain() {
  dispatcher_.BeginDrain();
  operator_.BeginDrain();
}

void LocalBroker::OnNotification(absl::string_view payload) {
  const std::optional<model::Notification> notification = model::ParseNotification(payload);
  if (!notification.has_value() || notification->origin == context_.origin_id) return;
  context_.metrics.Notification("received");
  switch (notification->kind) {
    case model::NotificationKind::kTasks:
      dispatcher_.Notified(*notification);
      break;
    case model::NotificationKind::kQueues:
      RefreshQueues();
      break;
    case model::NotificationKind::kBroker:
      has_new_peers_ = true;
      RenewRow();
      break;
    case model::NotificationKind::kAwaited:
      peer_awaits_.Add(notification->lane, notification->tasks, std::chrono::steady_clock::now());
      break;
    case model::NotificationKind::kWorkers:
      looker_.Taken();
      break;
    case model::NotificationKind::kSessions:
      looker_.Gone(notification->sessions);
      break;
    case model::NotificationKind::kEnded:
      waiters_.Ended(notification->lane, notification->tasks);
      break;
  }
}

// Says that this broker runs and learns how many others do. The first renewal makes them count
// again.
void LocalBroker::RenewRow() {
  auto renew = [this](absl::StatusOr<pg::Session*> session) {
    if (!session.ok()) return;
    const base::SteadyTime begin = std::chrono::steady_clock::now();
    const auto peers = store::RenewBroker(
        **session, {options_.id, options_.name, options_.version}, kRowLives,
        queues_.ConfirmedDeletions());
    if (!peers.ok()) return;
    // What was deleted while others did not see this broker it does not know.
    if (queues_.IsBelieved() || queues_.ReloadAll(**session).ok()) {
      queues_.BelieveUntil(begin + kBelieved);
    }
    notifier_.SetPeers(peers->count);
    enqueuer_.SetPeersReadPacks(peers->all_read_packs);
    if (has_new_peers_.exchange(false)) waiters_.AnnounceAll();
    if (has_beaten_.exchange(true)) return;
    model::Notification notification;
    notification.kind = model::NotificationKind::kBroker;
    notification.origin = context_.origin_id;
    const std::string payload = model::FormatNotification(notification);
    const absl::string_view view = payload;
    static_cast<void>(store::SendNotifications(**session, absl::MakeSpan(&view, 1)));
  };
  pool_.Submit(std::move(renew), {.rank = pg::JobRank::kFirst});
}

void LocalBroker::KeepRenewing() {
  RenewRow();
  peer_awaits_.Turn(std::chrono::steady_clock::now());
  timer_.After(kRenewEvery, [this] { KeepRenewing(); });
}

void LocalBroker::KeepRefreshing() {
  RefreshQueues();
  RefreshTokenKeys();
  timer_.After(kQueuesEvery, [this] { KeepRefreshing(); });
}

void LocalBroker::RefreshQueues() {
  auto refresh = [this](absl::StatusOr<pg::Session*> session) {
    if (!session.ok()) return;
    static_cast<void>(queues_.ReloadAll(**session));
    if (!queues_.ConfirmedDeletions().empty()) RenewRow();  // somebody waits for it
  };
  pool_.Submit(std::move(refresh), {"queues"});
}

// Who waits for its tasks is told so.
void LocalBroker::OnQueueGone(const QueuePtr& queue) {
  dispatcher_.QueueGone(queue);
  context_.metrics.RemoveQueue(queue->name);
}

void LocalBroker::RefreshTokenKeys() {
  if (options_.on_token_keys == nullptr) return;
  auto refresh = [this](absl::StatusOr<pg::Session*> session) {
    using Keys = std::vector<model::TokenKey>;
    const absl::StatusOr<Keys> keys =
        session.ok() ? store::ListTokenKeys(**session) : absl::StatusOr<Keys>(session.status());
    options_.on_token_keys(keys.value_or(Keys()));
    if (!session.ok() || !has_token_keys_.exchange(keys.ok()) || keys.ok()) return;
    base::Log(base::LogLevel::kWarn, "token_keys_unread",
              {{"error", std::string(keys.status().message())},
               {"why", "other brokers may sign lease tokens that this one does not know; tried "
                       "again every 5 s"}});
  };
  pool_.Submit(std::move(refresh), {.rank = pg::JobRank::kFirst});
}

void LocalBroker::Stop() {
  if (is_stopped_.exchange(true)) return;
  listener_.Stop();
  BeginDrain();  // who waits is answered
  operator_.EndWatches();
  timer_.Stop();
  dispatcher_.EndTimed();
  renewer_.EndMinInterval();
  minutes_.Flush();
  auto forget = [this](absl::StatusOr<pg::Session*> session) {
    if (session.ok()) static_cast<void>(store::ForgetBroker(**session, options_.id));
  };
  pool_.Submit(std::move(forget), {.rank = pg::JobRank::kLast});
  pool_.Stop();
}

}  // namespace skiplane::broker
