#include "server/broker/schedule/ticket.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/broker/schedule/lane_stage_state.h"
#include "server/broker/schedule/statement.h"

namespace skiplane::broker {

int64_t Ticket::RoomIn(model::LaneStage lane_stage) const {
  const int64_t room = call.max_tasks - static_cast<int64_t>(held.tasks.size());
  if (most_of.empty()) return room;
  for (const Wanted& each : wanted) {
    if (each.lane_stage == lane_stage) return std::min(room, most_of[each.source]);
  }
  return room;
}

std::string Ticket::RequestIdIn(model::LaneStage lane_stage) const {
  if (request_key.empty() || lane_stage.stage == 0) return request_key;
  return absl::StrCat(request_key, "/", lane_stage.stage);
}

void Ticket::Hold(model::LaneStage lane_stage, LeaseAnswer part) {
  for (const model::LeasedTask& task : part.tasks) held_bytes += ContentBytes(task);
  for (Entry& entry : entries) entry.has_served |= entry.state->lane_stage == lane_stage;
  for (const Wanted& each : wanted) {
    if (most_of.empty() || each.lane_stage != lane_stage) continue;
    most_of[each.source] -= static_cast<int64_t>(part.tasks.size());
  }
  if (!IsFilling()) {
    held = std::move(part);
    return;
  }
  if (part.tasks.empty()) return;
  held.lease_remaining = std::min(held.lease_remaining, part.lease_remaining);
  std::move(part.tasks.begin(), part.tasks.end(), std::back_inserter(held.tasks));
}

}  // namespace skiplane::broker
