#include "server/upkeep/recovery.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/base/status_macros.h"
#include "server/model/notification.h"
#include "server/store/peers.h"

namespace skiplane::upkeep {
namespace {

constexpr int kLedgerRowsAtOnce = 50;
constexpr int kStepsPerLane = 100;

void LogReclaimed(const LaneOwner* owner, int64_t lane, store::Action as,
                  const store::Reclaimed& step) {
  static constinit base::SampledEvent event("reclaimed");
  if (!event.Wanted()) return;
  event.Write({{"queue", owner == nullptr ? "" : owner->queue},
               {"lane", absl::StrCat(lane)},
               {"sessions", as == store::Action::kLost ? "lost" : "ended"},
               {"freed", absl::StrCat(step.freed)},
               {"failed", absl::StrCat(step.failed)},
               {"cancelled", absl::StrCat(step.cancelled)}});
}

}  // namespace

absl::StatusOr<Recovered> Recovery::Recover(pg::Session& session,
                                            absl::Span<const pg::Uuid> sessions) {
  Recovered total;
  if (sessions.empty()) return total;
  ASSIGN_OR_RETURN(const auto named, store::LedgerLanes(session, sessions));
  if (named.empty()) return total;
  RETURN_IF_ERROR(owners_.Load(session));
  absl::flat_hash_map<int64_t, std::vector<pg::Uuid>> by_lane;
  for (const auto& [lane, id] : named) by_lane[lane].push_back(id);
  std::vector<int64_t> lanes;
  for (const auto& [lane, ids] : by_lane) lanes.push_back(lane);
  total.first_error = round_.Visit(session, std::move(lanes), [&](int64_t lane) {
    return RecoverLane(session, lane, by_lane[lane], &total);
  });
  total.is_complete = round_.is_complete();
  return total;
}

absl::StatusOr<bool> Recovery::RecoverLane(pg::Session& session, int64_t lane,
                                           absl::Span<const pg::Uuid> sessions, Recovered* total) {
  std::vector<store::UnleasedTasks> unleased;
  std::vector<int64_t> ended;
  absl::StatusOr<bool> is_done = false;
  for (int step = 0; step < kStepsPerLane && !*is_done; ++step) {
    const absl::StatusOr<store::Reclaimed> reclaimed = ReclaimStep(session, lane, sessions);
    if (!reclaimed.ok()) {
      is_done = reclaimed.status();
      break;
    }
    Count(lane, *reclaimed);
    total->freed += reclaimed->freed;
    total->failed += reclaimed->failed;
    total->sessions.insert(reclaimed->sessions.begin(), reclaimed->sessions.end());
    unleased.insert(unleased.end(), reclaimed->unleased.begin(), reclaimed->unleased.end());
    ended.insert(ended.end(), reclaimed->ended.begin(), reclaimed->ended.end());
    is_done = !reclaimed->found_rows;
    if (round_.is_over()) break;
  }
  // Also after an error: what was freed before it waits for nobody else to tell.
  RETURN_IF_ERROR(SendReclaimed(session, lane, unleased, ended));
  return is_done;
}

absl::StatusOr<store::Reclaimed> Recovery::ReclaimStep(
    pg::Session& session, int64_t lane, absl::Span<const pg::Uuid> sessions) const {
  const LaneOwner* owner = owners_.Find(lane);
  const model::QueueSettings& settings = owner ? owner->settings : unknown_.settings;
  return store::Reclaim(session, lane, sessions, settings, kLedgerRowsAtOnce, as_);
}

void Recovery::Count(int64_t lane, const store::Reclaimed& step) const {
  const LaneOwner* owner = owners_.Find(lane);
  if (step.Attempts() == 0) return;
  LogReclaimed(owner, lane, as_, step);
  if (owner == nullptr) return;
  CountReclaimed(*metrics_, owner->queue, as_ == store::Action::kLost ? "lost" : "released", step);
}

void CountReclaimed(metrics::Metrics& metrics, const std::string& queue, const char* outcome,
                    const store::Reclaimed& step) {
  metrics.AttemptEnded(queue, outcome, step.Attempts());
  if (step.failed > 0) metrics.Finished(queue, "failed", step.failed);
  if (step.cancelled > 0) metrics.Finished(queue, "cancelled", step.cancelled);
}

absl::Status SendNotifications(pg::Session& session,
                               const std::vector<store::UnleasedTasks>& unleased) {
  if (unleased.empty() || !session.alive()) return absl::OkStatus();
  std::vector<std::string> texts;
  for (const store::UnleasedTasks& tasks : unleased) {
    // Without an origin: this process' own workers shall hear it, too.
    model::Notification notification;
    notification.lane = tasks.lane;
    notification.stage = tasks.stage;
    notification.priority = tasks.priority;
    notification.count = tasks.count;
    notification.schedule_time = tasks.schedule_time;
    texts.push_back(model::FormatNotification(notification));
  }
  const std::vector<absl::string_view> payloads(texts.begin(), texts.end());
  return store::SendNotifications(session, payloads);
}

namespace {

absl::Status SendEnded(pg::Session& session, int64_t lane, absl::Span<const int64_t> tasks) {
  if (tasks.empty() || !session.alive()) return absl::OkStatus();
  const std::vector<std::string> texts =
      model::FormatTaskNotifications(model::NotificationKind::kEnded, "", lane, tasks);
  const std::vector<absl::string_view> payloads(texts.begin(), texts.end());
  return store::SendNotifications(session, payloads);
}

}  // namespace

absl::Status SendReclaimed(pg::Session& session, int64_t lane,
                           const std::vector<store::UnleasedTasks>& unleased,
                           absl::Span<const int64_t> ended) {
  absl::Status sent = SendNotifications(session, unleased);
  sent.Update(SendEnded(session, lane, ended));
  return sent;
}

}  // namespace skiplane::upkeep
