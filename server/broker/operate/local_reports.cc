// The reports of LocalOperator.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/broker/job/list_job.h"
#include "server/broker/job/list_visible.h"
#include "server/broker/observe/queue_summaries.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/local_operator.h"
#include "server/model/limits.h"
#include "server/store/peers.h"
#include "server/store/queues.h"
#include "server/store/reports.h"
#include "server/store/space.h"
#include "server/store/task_change.h"

namespace skiplane::broker {

void LocalOperator::ListErrorGroups(ListErrorsCall call, Callback<ErrorPage> done) {
  const std::string party = call.party;
  SubmitList(
      context_.turns, TurnOf::kList, lists_, party, std::move(done), &ErrorPage::groups,
      [this, call = std::move(call)](pg::Session& session) { return ReadErrors(session, call); });
}

// The queues that the call asks for, by their first lanes.
absl::StatusOr<ErrorPage> LocalOperator::ReadErrors(pg::Session& session,
                                                    const ListErrorsCall& call) {
  ASSIGN_OR_RETURN(const auto visible, queues_.Visible(session, call.queue, call.permit));
  absl::flat_hash_map<int64_t, QueuePtr> queues;
  for (const QueuePtr& queue : visible) queues.emplace(queue->lanes.front(), queue);
  std::optional<int16_t> stage;
  if (!call.queue.empty()) {
    ASSIGN_OR_RETURN(stage,
                     queues_.StageOf(session, visible.front(), call.stage, "stage"));
  }
  store::QueueLanes lanes;
  for (const auto& [first_lane, queue] : queues) lanes.Add(queue->lanes);
  ErrorPage page;
  ASSIGN_OR_RETURN(
      page.groups,
      store::ListErrorGroups(
          session, lanes, stage,
          {call.seen_micros, call.after_stage, call.after_fingerprint, call.after_queue},
          call.limit, model::kListBytesMax, call.hide_muted));
  for (const model::ErrorGroup& group : page.groups.items) {
    const QueuePtr& queue = queues.at(group.queue);
    page.queues.push_back(queue->name);
    page.stages.push_back(queue->settings.StageName(group.stage));
  }
  return page;
}

void LocalOperator::AnnotateError(AnnotateErrorCall call, Callback<model::ErrorNote> done) {
  const std::string party = call.party;
  SubmitJob(
      context_.turns, TurnOf::kCall, party, std::move(done),
      [this, call = std::move(call)](pg::Session& session) { return Annotate(session, call); });
}

absl::StatusOr<model::ErrorNote> LocalOperator::Annotate(pg::Session& session,
                                                         const AnnotateErrorCall& call) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  const int64_t first_lane = queue->lanes.front();
  model::ErrorNote note;
  const auto change = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(note, store::AnnotateError(session, {first_lane, call.fingerprint, call.text,
                                                          call.is_muted, call.origin.actor}));
    RETURN_IF_ERROR(store::AddAudit(session, call.origin, call.queue, 0));
    return "";
  };
  ASSIGN_OR_RETURN(const auto earlier, ChangeOnce(session, call.origin, change));
  if (!earlier.has_value()) return note;
  return store::GetErrorNote(session, first_lane, call.fingerprint);
}

void LocalOperator::ReadStatistics(StatisticsCall call, Callback<Statistics> done) {
  const std::string party = call.party;
  SubmitList(
      context_.turns, TurnOf::kList, lists_, party, std::move(done), &Statistics::hours,
      [this, call = std::move(call)](pg::Session& session) { return ReadHours(session, call); });
}

absl::StatusOr<Statistics> LocalOperator::ReadHours(pg::Session& session,
                                                    const StatisticsCall& call) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  store::StatisticsRange range;
  ASSIGN_OR_RETURN(range.stage, queues_.StageOf(session, queue, call.stage, "stage"));
  range.outcome = call.outcome;
  // A range that is left open ends with what there is: no hour begins later than now.
  range.end = call.end.value_or(absl::InfiniteFuture());
  range.start = call.start.value_or(absl::Now() - absl::Hours(24));
  range.start = std::max(range.start, call.after_hour);
  range.after_hour = call.after_hour;
  range.after_stage = call.after_stage;
  range.after_outcome = call.after_outcome;
  Statistics statistics;
  ASSIGN_OR_RETURN(statistics.hours, store::ReadStatistics(session, queue->lanes, range,
                                                           model::kStatisticsHoursMax));
  for (const model::HourStatistics& hour : statistics.hours.items) {
    statistics.stages.push_back(queue->settings.StageName(hour.stage));
  }
  return statistics;
}

void LocalOperator::ReadMinutes(MinutesCall call, Callback<MinutePage> done) {
  const std::string party = call.party;
  SubmitList(
      context_.turns, TurnOf::kList, lists_, party, std::move(done), &MinutePage::minutes,
      [this, call = std::move(call)](pg::Session& session) { return ReadTimes(session, call); });
}

absl::StatusOr<MinutePage> LocalOperator::ReadTimes(pg::Session& session, const MinutesCall& call) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  store::MinuteRange range;
  ASSIGN_OR_RETURN(range.stage, queues_.StageOf(session, queue, call.stage, "stage"));
  range.start = call.start;
  range.end = call.end;
  range.step = call.step;
  MinutePage page;
  if (!call.after.has_value()) {
    ASSIGN_OR_RETURN(page.total, store::ReadMinutesTotal(session, queue->lanes, range));
  }
  range.after_step = call.after.value_or(absl::InfinitePast());
  range.after_stage = call.after_stage;
  ASSIGN_OR_RETURN(page.minutes, store::ReadMinutes(session, queue->lanes, range,
                                                    model::kMinuteStatisticsMax));
  for (const model::MinuteStatistics& minute : page.minutes.items) {
    page.stages.push_back(queue->settings.StageName(minute.stage));
  }
  return page;
}

void LocalOperator::ListSummaries(ListQueuesCall call, Callback<model::Page<QueueSummary>> done) {
  const std::string party = call.party;
  SubmitList(
      context_.turns, TurnOf::kList, lists_, party, std::move(done), std::identity(),
      [this, call = std::move(call)](pg::Session& session) { return Summarize(session, call); });
}

absl::StatusOr<model::Page<QueueSummary>> LocalOperator::Summarize(pg::Session& session,
                                                                   const ListQueuesCall& call) {
  ASSIGN_OR_RETURN(model::Page<model::Queue> queues,
                   ReadVisible<model::Queue>(
                       call.permit, call.limit,
                       [&](const model::Queue* last, int limit) {
                         return store::ListQueuePage(session,
                                                     last == nullptr ? call.after : last->name,
                                                     limit, model::kListBytesMax);
                       },
                       [](const model::Queue& queue) -> const std::string& { return queue.name; }));
  model::Page<QueueSummary> page;
  page.has_more = queues.has_more;
  page.bytes = queues.bytes;
  ASSIGN_OR_RETURN(page.items, broker::Summarize(session, std::move(queues.items), watch_));
  return page;
}

void LocalOperator::ListAudit(ListAuditCall call, Callback<AuditPage> done) {
  const std::string party = call.party;
  SubmitList(context_.turns, TurnOf::kList, lists_, party, std::move(done), &AuditPage::records,
             [call = std::move(call)](pg::Session& session) -> absl::StatusOr<AuditPage> {
               ASSIGN_OR_RETURN(store::AuditPage page,
                                store::ListAudit(session,
                                                 {call.queue, call.task_id, call.actor, call.start,
                                                  call.end},
                                                 call.before, call.limit, model::kListBytesMax));
               return AuditPage{std::move(page.records), page.before};
             });
}

void LocalOperator::ListBrokers(ListBrokersCall call, Callback<BrokerPage> done) {
  SubmitJob(context_.turns, TurnOf::kCall, call.party, std::move(done),
            [this](pg::Session& session) -> absl::StatusOr<BrokerPage> {
              BrokerPage page;
              ASSIGN_OR_RETURN(page.brokers, store::ListBrokers(session, model::kBrokersListed));
              page.own_id = own_.id;
              return page;
            });
}

void LocalOperator::GetServerInfo(ServerInfoCall call, Callback<ServerReport> done) {
  SubmitJob(context_.turns, TurnOf::kCall, call.party, std::move(done),
            [this](pg::Session& session) { return ReadInfo(session); });
}

absl::StatusOr<ServerReport> LocalOperator::ReadInfo(pg::Session& session) {
  ServerReport info;
  info.version = own_.version;
  info.commit = own_.commit;
  info.broker_name = own_.name;
  info.connections = own_.connections;
  ASSIGN_OR_RETURN(info.database, store::ReadServedDatabase(session));
  info.start_time = info.database.now - absl::FromChrono(std::chrono::steady_clock::now() - began_);
  ASSIGN_OR_RETURN(const store::Sizes sizes, store::ReadSizes(session));
  info.database_bytes = sizes.database_bytes;
  for (const store::TableSize& size : sizes.tables) {
    info.tables.push_back(
        {size.table, size.row_bytes, size.toast_bytes, size.index_bytes, size.dead_rows});
  }
  return info;
}

}  // namespace skiplane::broker
