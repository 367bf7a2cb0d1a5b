#include "server/rpc/admin/convert_minutes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/list_token.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::Duration kMinutesRangeMost = absl::Hours(72);
constexpr absl::Duration kMinutesStepMost = absl::Hours(24);

absl::Status ReadStep(const v1::GetMinuteStatisticsRequest& request, broker::MinutesCall* call) {
  if (!request.has_step()) return absl::OkStatus();
  ASSIGN_OR_RETURN(call->step, ReadDuration(request.step(), {absl::Minutes(1), kMinutesStepMost},
                                            {"step"}));
  if (call->step == absl::Floor(call->step, absl::Minutes(1))) return absl::OkStatus();
  return InvalidField({"step"}, "must be whole minutes");
}

absl::Status ReadRange(const v1::GetMinuteStatisticsRequest& request, broker::MinutesCall* call) {
  const absl::Time now = absl::Now();
  call->start = now - absl::Hours(1);
  // The database's clock may be ahead of ours: what it wrote just now is part of an open range.
  call->end = absl::InfiniteFuture();
  if (request.has_start_time()) {
    ASSIGN_OR_RETURN(call->start, ReadTime(request.start_time(), {"start_time"}));
  }
  if (request.has_end_time()) {
    ASSIGN_OR_RETURN(call->end, ReadTime(request.end_time(), {"end_time"}));
    if (call->end < call->start) return InvalidField({"end_time"}, "is before start_time");
  }
  if (std::min(call->end, now) - call->start <= kMinutesRangeMost) return absl::OkStatus();
  return InvalidField({"end_time"}, "is more than 3 days after start_time");
}

void WriteTimes(const model::TimeHistogram& times, v1::TimeSummary* wire) {
  wire->set_count(times.count());
  WriteDuration(times.Percentile(0.5), wire->mutable_p50());
  WriteDuration(times.Percentile(0.95), wire->mutable_p95());
  WriteDuration(times.Percentile(0.99), wire->mutable_p99());
}

void WriteMinute(const model::MinuteStatistics& minute, v1::MinuteStatistics* wire) {
  WriteTimes(minute.times.run, wire->mutable_run());
  WriteTimes(minute.times.wait, wire->mutable_wait());
}

}  // namespace

absl::StatusOr<broker::MinutesCall> ReadMinutes(v1::GetMinuteStatisticsRequest* request) {
  broker::MinutesCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckText(request->stage(), model::kStageNameBytesMax, {"stage"}));
  RETURN_IF_ERROR(ReadStep(*request, &call));
  RETURN_IF_ERROR(ReadRange(*request, &call));
  if (!request->page_token().empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                     ReadListToken(request->page_token(), TokenScope(*request), 2));
    int64_t step_micros = 0;
    RETURN_IF_ERROR(ReadNumbers(parts, &step_micros, &call.after_stage));
    call.after = absl::FromUnixMicros(step_micros);
  }
  call.queue = std::move(*request->mutable_queue());
  call.stage = std::move(*request->mutable_stage());
  return call;
}

void WriteMinutes(broker::MinutePage* page, const std::string& scope,
                  v1::GetMinuteStatisticsResponse* response) {
  for (size_t i = 0; i < page->minutes.items.size(); ++i) {
    v1::MinuteStatistics* const wire = response->add_minutes();
    WriteTime(page->minutes.items[i].start_time, wire->mutable_start_time());
    wire->set_stage(page->stages[i]);
    WriteMinute(page->minutes.items[i], wire);
  }
  if (page->total.has_value()) WriteMinute(*page->total, response->mutable_total());
  if (!page->minutes.has_more) return;
  const model::MinuteStatistics& last = page->minutes.items.back();
  response->set_next_page_token(
      WriteListToken({std::to_string(absl::ToUnixMicros(last.start_time)),
                      std::to_string(last.stage)},
                     scope));
}

}  // namespace skiplane::rpc
