#include "server/rpc/admin/convert_queue.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"
#include "server/rpc/settings/convert_settings.h"

namespace skiplane::rpc {

std::string WriteEtag(int64_t version) { return absl::StrCat(version); }

int64_t ReadEtag(const std::string& etag) {
  int64_t version = 0;
  return absl::SimpleAtoi(etag, &version) && WriteEtag(version) == etag ? version : -1;
}

void WriteQueue(const model::Queue& queue, v1::Queue* wire) {
  wire->set_name(queue.name);
  WriteSettings(queue.settings, wire->mutable_settings());
  wire->set_lane_count(static_cast<int32_t>(queue.lanes.size()));
  wire->set_pause_mode(ToWire(queue.pause));
  wire->set_pause_reason(queue.pause_reason);
  WriteTime(queue.create_time, wire->mutable_create_time());
  WriteTime(queue.update_time, wire->mutable_update_time());
  wire->set_etag(WriteEtag(queue.version));
  wire->set_deleting(queue.IsDeleting());
}

namespace {

void WriteCounts(const broker::QueueWithCounts& queue, v1::QueueCounts* wire) {
  wire->set_scheduled_count(queue.counts.scheduled);
  wire->set_ready_count(queue.counts.ready);
  wire->set_leased_count(queue.counts.leased);
  wire->set_succeeded_count(queue.counts.succeeded);
  wire->set_failed_count(queue.counts.failed);
  wire->set_cancelled_count(queue.counts.cancelled);
  for (size_t i = 0; i < queue.stages.size(); ++i) {
    const broker::StageReport& stage = queue.stages[i];
    v1::StageCounts* const out = wire->add_stages();
    out->set_stage(queue.queue.settings.StageName(static_cast<int16_t>(i)));
    out->set_scheduled_count(stage.counts.scheduled);
    out->set_ready_count(stage.counts.ready);
    out->set_leased_count(stage.counts.leased);
    out->set_succeeded_count(stage.counts.succeeded + stage.counts.moved);
    out->set_failed_count(stage.counts.failed);
    WriteDuration(stage.oldest_ready_age, out->mutable_oldest_ready_age());
  }
}

}  // namespace

void WriteSummary(const broker::QueueSummary& summary, v1::QueueSummary* wire) {
  const model::Queue& queue = summary.counted.queue;
  wire->set_queue(queue.name);
  wire->set_pause_mode(ToWire(queue.pause));
  wire->set_pause_reason(queue.pause_reason);
  WriteCounts(summary.counted, wire->mutable_counts());
  for (v1::StageCounts& stage : *wire->mutable_counts()->mutable_stages()) {
    stage.clear_oldest_ready_age();
  }
  wire->set_dead_letter_count(summary.look.dead_letters);
  wire->set_enqueue_rate(summary.look.rates.enqueued);
  wire->set_success_rate(summary.look.rates.succeeded);
  wire->set_failure_rate(summary.look.rates.failed);
  WriteDuration(summary.look.oldest_ready_age, wire->mutable_oldest_ready_age());
  WriteDuration(summary.look.oldest_attempt_age, wire->mutable_oldest_attempt_age());
  wire->set_deleting(queue.IsDeleting());
}

void WriteGetQueue(broker::QueueWithCounts* answer, v1::GetQueueResponse* response) {
  WriteQueue(answer->queue, response->mutable_queue());
  WriteCounts(*answer, response->mutable_queue()->mutable_counts());
}

}  // namespace skiplane::rpc
