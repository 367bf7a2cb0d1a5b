#include "client/src/convert_queue.h"

#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

v1::RetryKind ToProto(RetryKind kind) {
  switch (kind) {
    case RetryKind::kFixed: return v1::RETRY_KIND_FIXED;
    case RetryKind::kExponential: return v1::RETRY_KIND_EXPONENTIAL;
    case RetryKind::kTable: return v1::RETRY_KIND_TABLE;
    case RetryKind::kLinear: break;
  }
  return v1::RETRY_KIND_LINEAR;
}

RetryKind KindFromProto(v1::RetryKind kind) {
  switch (kind) {
    case v1::RETRY_KIND_FIXED: return RetryKind::kFixed;
    case v1::RETRY_KIND_EXPONENTIAL: return RetryKind::kExponential;
    case v1::RETRY_KIND_TABLE: return RetryKind::kTable;
    default: return RetryKind::kLinear;
  }
}

v1::HistoryPolicy ToProto(HistoryPolicy history) {
  switch (history) {
    case HistoryPolicy::kFailures: return v1::HISTORY_POLICY_FAILURES;
    case HistoryPolicy::kNone: return v1::HISTORY_POLICY_NONE;
    case HistoryPolicy::kAll: break;
  }
  return v1::HISTORY_POLICY_ALL;
}

HistoryPolicy HistoryFromProto(v1::HistoryPolicy history) {
  switch (history) {
    case v1::HISTORY_POLICY_FAILURES: return HistoryPolicy::kFailures;
    case v1::HISTORY_POLICY_NONE: return HistoryPolicy::kNone;
    default: return HistoryPolicy::kAll;
  }
}

PauseMode PauseFromProto(v1::PauseMode mode) {
  switch (mode) {
    case v1::PAUSE_MODE_LEASE: return PauseMode::kLease;
    case v1::PAUSE_MODE_ENQUEUE: return PauseMode::kEnqueue;
    case v1::PAUSE_MODE_BOTH: return PauseMode::kBoth;
    default: return PauseMode::kNone;
  }
}

void ToProto(const RetryPolicy& retry, v1::RetryPolicy* proto) {
  proto->set_kind(ToProto(retry.kind));
  internal::ToProto(retry.base_delay, proto->mutable_base_delay());
  if (retry.kind == RetryKind::kExponential) proto->set_factor(retry.factor);
  internal::ToProto(retry.max_delay, proto->mutable_max_delay());
  for (const absl::Duration delay : retry.delays) internal::ToProto(delay, proto->add_delays());
  proto->set_jitter(retry.jitter);
  proto->set_max_attempts(retry.max_attempts);
}

RetryPolicy RetryFromProto(const v1::RetryPolicy& proto) {
  RetryPolicy retry{.kind = KindFromProto(proto.kind()),
                    .base_delay = FromProto(proto.base_delay()),
                    .factor = proto.factor(),
                    .max_delay = FromProto(proto.max_delay()),
                    .jitter = proto.jitter(),
                    .max_attempts = proto.max_attempts()};
  for (const auto& delay : proto.delays()) retry.delays.push_back(FromProto(delay));
  return retry;
}

}  // namespace

void ToProto(const QueueSettings& settings, v1::QueueSettings* proto) {
  ToProto(settings.retry, proto->mutable_retry());
  proto->set_history(ToProto(settings.history));
  ToProto(settings.lease_duration, proto->mutable_lease_duration());
  proto->set_payload_bytes_max(settings.payload_bytes_max);
}

v1::PauseMode ToProto(PauseMode mode) {
  switch (mode) {
    case PauseMode::kLease: return v1::PAUSE_MODE_LEASE;
    case PauseMode::kEnqueue: return v1::PAUSE_MODE_ENQUEUE;
    case PauseMode::kBoth: return v1::PAUSE_MODE_BOTH;
    case PauseMode::kNone: break;
  }
  return v1::PAUSE_MODE_UNSPECIFIED;
}

Queue FromProto(const v1::Queue& proto) {
  const v1::QueueSettings& settings = proto.settings();
  const v1::QueueCounts& counts = proto.counts();
  return {.name = proto.name(),
          .settings = {.retry = RetryFromProto(settings.retry()),
                       .history = HistoryFromProto(settings.history()),
                       .lease_duration = FromProto(settings.lease_duration()),
                       .payload_bytes_max = settings.payload_bytes_max()},
          .lanes = proto.lanes(),
          .pause_mode = PauseFromProto(proto.pause_mode()),
          .pause_reason = proto.pause_reason(),
          .create_time = FromProto(proto.create_time()),
          .update_time = FromProto(proto.update_time()),
          .etag = proto.etag(),
          .counts = {.scheduled = counts.scheduled_count(),
                     .ready = counts.ready_count(),
                     .leased = counts.leased_count(),
                     .succeeded = counts.succeeded_count(),
                     .failed = counts.failed_count()}};
}

}  // namespace skiplane::internal
