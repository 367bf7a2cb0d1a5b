#include "server/rpc/admin/convert_queue.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/admin/convert_settings.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

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
}

void WriteGetQueue(broker::QueueWithCounts* answer, v1::GetQueueResponse* response) {
  WriteQueue(answer->queue, response->mutable_queue());
  v1::QueueCounts* counts = response->mutable_queue()->mutable_counts();
  counts->set_scheduled_count(answer->counts.scheduled);
  counts->set_ready_count(answer->counts.ready);
  counts->set_leased_count(answer->counts.leased);
  counts->set_succeeded_count(answer->counts.succeeded);
  counts->set_failed_count(answer->counts.failed);
  counts->set_cancelled_count(answer->counts.cancelled);
  for (size_t i = 0; i < answer->stages.size(); ++i) {
    const broker::StageReport& stage = answer->stages[i];
    v1::StageCounts* const out = counts->add_stages();
    out->set_stage(answer->queue.settings.StageName(static_cast<int16_t>(i)));
    out->set_scheduled_count(stage.counts.scheduled);
    out->set_ready_count(stage.counts.ready);
    out->set_leased_count(stage.counts.leased);
    out->set_succeeded_count(stage.counts.succeeded + stage.counts.moved);
    out->set_failed_count(stage.counts.failed);
    WriteDuration(stage.oldest_ready_age, out->mutable_oldest_ready_age());
  }
}

}  // namespace skiplane::rpc
