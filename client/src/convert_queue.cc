#include "client/src/convert_queue.h"

#include "client/src/convert_enum.h"
#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

void ToProto(const RetryPolicy& retry, v1::RetryPolicy* proto) {
  proto->set_kind(internal::ToProto(retry.kind));
  internal::ToProto(retry.base_delay, proto->mutable_base_delay());
  if (retry.kind == RetryKind::kExponential) proto->set_factor(retry.factor);
  internal::ToProto(retry.max_delay, proto->mutable_max_delay());
  for (const absl::Duration delay : retry.delays) internal::ToProto(delay, proto->add_delays());
  proto->set_jitter(retry.jitter);
  proto->set_max_attempts(retry.max_attempts);
}

RetryPolicy RetryFromProto(const v1::RetryPolicy& proto) {
  RetryPolicy retry{.kind = FromProto(proto.kind()),
                    .base_delay = FromProto(proto.base_delay()),
                    .factor = proto.factor(),
                    .max_delay = FromProto(proto.max_delay()),
                    .jitter = proto.jitter(),
                    .max_attempts = proto.max_attempts()};
  for (const auto& delay : proto.delays()) retry.delays.push_back(FromProto(delay));
  return retry;
}

void ToProto(const Stage& stage, v1::Stage* proto) {
  proto->set_name(stage.name);
  if (stage.retry) ToProto(*stage.retry, proto->mutable_retry());
  if (stage.lease_duration) {
    internal::ToProto(*stage.lease_duration, proto->mutable_lease_duration());
  }
  if (stage.max_run_duration) {
    internal::ToProto(*stage.max_run_duration, proto->mutable_max_run_duration());
  }
}

Stage StageFromProto(const v1::Stage& proto) {
  Stage stage{.name = proto.name()};
  if (proto.has_retry()) stage.retry = RetryFromProto(proto.retry());
  if (proto.has_lease_duration()) stage.lease_duration = FromProto(proto.lease_duration());
  if (proto.has_max_run_duration()) stage.max_run_duration = FromProto(proto.max_run_duration());
  return stage;
}

QueueSettings SettingsFromProto(const v1::QueueSettings& proto) {
  QueueSettings settings{.retry = RetryFromProto(proto.retry()),
                         .history = FromProto(proto.history()),
                         .periodic_history = FromProto(proto.periodic_history()),
                         .lease_duration = FromProto(proto.lease_duration()),
                         .max_payload_bytes = proto.max_payload_bytes(),
                         .max_run_duration = FromProto(proto.max_run_duration()),
                         .history_days = proto.history_days(),
                         .failed_days = proto.failed_days(),
                         .keep_payloads = proto.keep_payloads(),
                         .keep_results = proto.keep_results(),
                         .packing = FromProto(proto.packing())};
  if (proto.has_max_depth()) settings.max_depth = proto.max_depth();
  if (proto.has_max_bytes()) settings.max_bytes = proto.max_bytes();
  if (proto.has_max_enqueue_rate()) settings.max_enqueue_rate = proto.max_enqueue_rate();
  for (const v1::Stage& stage : proto.stages()) settings.stages.push_back(StageFromProto(stage));
  return settings;
}

}  // namespace

void ToProto(const QueueSettings& settings, v1::QueueSettings* proto) {
  ToProto(settings.retry, proto->mutable_retry());
  proto->set_history(ToProto(settings.history));
  proto->set_periodic_history(ToProto(settings.periodic_history));
  ToProto(settings.lease_duration, proto->mutable_lease_duration());
  proto->set_max_payload_bytes(settings.max_payload_bytes);
  for (const Stage& stage : settings.stages) ToProto(stage, proto->add_stages());
  ToProto(settings.max_run_duration, proto->mutable_max_run_duration());
  proto->set_history_days(settings.history_days);
  proto->set_failed_days(settings.failed_days);
  proto->set_keep_payloads(settings.keep_payloads);
  proto->set_keep_results(settings.keep_results);
  proto->set_packing(ToProto(settings.packing));
  if (settings.max_depth) proto->set_max_depth(*settings.max_depth);
  if (settings.max_bytes) proto->set_max_bytes(*settings.max_bytes);
  if (settings.max_enqueue_rate) proto->set_max_enqueue_rate(*settings.max_enqueue_rate);
}

Queue FromProto(const v1::Queue& proto) {
  const v1::QueueCounts& counts = proto.counts();
  return {.name = proto.name(),
          .settings = SettingsFromProto(proto.settings()),
          .lane_count = proto.lane_count(),
          .pause_mode = FromProto(proto.pause_mode()),
          .pause_reason = proto.pause_reason(),
          .create_time = FromProto(proto.create_time()),
          .update_time = FromProto(proto.update_time()),
          .etag = proto.etag(),
          .counts = {.scheduled = counts.scheduled_count(),
                     .ready = counts.ready_count(),
                     .leased = counts.leased_count(),
                     .succeeded = counts.succeeded_count(),
                     .failed = counts.failed_count(),
                     .cancelled = counts.cancelled_count()}};
}

}  // namespace skiplane::internal
