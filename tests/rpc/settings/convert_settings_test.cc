#include "server/rpc/settings/convert_settings.h"

#include <gtest/gtest.h>

#include "server/base/reason.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

// Settings that differ from the defaults everywhere.
model::QueueSettings Unusual() {
  model::QueueSettings settings;
  settings.retry.kind = model::RetryKind::kTable;
  settings.retry.base_delay = absl::Seconds(7);
  settings.retry.factor = 3.5;
  settings.retry.max_delay = absl::Hours(2);
  settings.retry.delays = {absl::Seconds(1), absl::Minutes(1)};
  settings.retry.jitter = 0.25;
  settings.retry.max_attempts = 4;
  settings.history = model::HistoryPolicy::kFailures;
  settings.lease_duration = absl::Minutes(9);
  settings.max_payload_bytes = 1000;
  settings.stages.emplace_back().name = "first";
  settings.max_run_duration = absl::Minutes(3);
  settings.periodic_history = model::HistoryPolicy::kNone;
  settings.history_days = 2;
  settings.failed_days = 3;
  settings.keep_payloads = true;
  settings.keep_results = true;
  settings.packing = model::Packing::kOff;
  settings.limits = {.max_depth = 5, .max_bytes = 6, .max_enqueue_rate = 0.5};
  return settings;
}

model::QueueSettings Changed(const v1::QueueSettings& wire, const SettingPaths& paths) {
  const auto changed = ChangeSettings(Unusual(), wire, paths);
  EXPECT_TRUE(changed.ok()) << changed.status();
  return changed.value_or(model::QueueSettings());
}

TEST(ChangeSettings, WholeSettingsComeBackAsTheyWere) {
  v1::QueueSettings wire;
  WriteSettings(Unusual(), &wire);
  const auto read = ChangeSettings(model::QueueSettings(), wire, AllSettings());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Unusual());
}

TEST(ChangeSettings, NamedSettingsThatAreUnsetReturnToTheirDefaults) {
  SettingPaths paths = AllSettings();
  std::erase(paths, "stages");  // are never removed
  model::QueueSettings expected;
  expected.stages = Unusual().stages;
  EXPECT_EQ(Changed({}, paths), expected);
  EXPECT_EQ(Changed({}, {}), Unusual());
}

TEST(ChangeSettings, AZeroIsAValue) {
  v1::QueueSettings wire;
  wire.mutable_retry()->set_jitter(0);
  wire.set_keep_payloads(false);
  wire.set_keep_results(false);
  model::QueueSettings expected = Unusual();
  expected.retry.jitter = 0;
  expected.keep_payloads = expected.keep_results = false;
  EXPECT_EQ(Changed(wire, {"retry.jitter", "keep_payloads", "keep_results"}), expected);
  wire.set_history_days(0);
  const auto refused = ChangeSettings(Unusual(), wire, {"history_days"});
  EXPECT_EQ(base::FieldOf(refused.status()), "settings.history_days");
}

TEST(ChangeSettings, EachPathTakesOnlyItsOwnSetting) {
  model::QueueSettings expected = Unusual();
  expected.history = model::HistoryPolicy::kAll;
  EXPECT_EQ(Changed({}, {"history"}), expected);
  expected = Unusual();
  expected.lease_duration = model::kLeaseDurationDefault;
  EXPECT_EQ(Changed({}, {"lease_duration"}), expected);
  expected = Unusual();
  expected.max_payload_bytes = model::kPayloadBytesMax;
  EXPECT_EQ(Changed({}, {"max_payload_bytes"}), expected);
  expected = Unusual();
  expected.retry = model::RetryPolicy();
  EXPECT_EQ(Changed({}, {"retry"}), expected);
  expected = Unusual();
  expected.limits.max_depth.reset();
  EXPECT_EQ(Changed({}, {"max_depth"}), expected);
  expected = Unusual();
  expected.limits.max_bytes.reset();
  EXPECT_EQ(Changed({}, {"max_bytes"}), expected);
  expected = Unusual();
  expected.limits.max_enqueue_rate.reset();
  EXPECT_EQ(Changed({}, {"max_enqueue_rate"}), expected);
}

TEST(ChangeSettings, EachPathBelowRetryTakesOnlyItsOwnSetting) {
  const model::RetryPolicy defaults;
  model::QueueSettings expected = Unusual();
  expected.retry.kind = defaults.kind;
  EXPECT_EQ(Changed({}, {"retry.kind"}), expected);
  expected.retry.base_delay = defaults.base_delay;
  EXPECT_EQ(Changed({}, {"retry.kind", "retry.base_delay"}), expected);
  expected = Unusual();
  expected.retry.factor = defaults.factor;
  expected.retry.max_delay = defaults.max_delay;
  EXPECT_EQ(Changed({}, {"retry.factor", "retry.max_delay"}), expected);
  expected = Unusual();
  expected.retry.jitter = defaults.jitter;
  expected.retry.max_attempts = defaults.max_attempts;
  EXPECT_EQ(Changed({}, {"retry.jitter", "retry.max_attempts"}), expected);
  v1::QueueSettings wire;
  wire.mutable_retry()->add_delays()->set_seconds(5);
  expected = Unusual();
  expected.retry.delays = {absl::Seconds(5)};
  EXPECT_EQ(Changed(wire, {"retry.delays"}), expected);
}

TEST(ChangeSettings, ValuesOutsideThePathsAreNotLookedAt) {
  v1::QueueSettings wire;
  wire.set_max_payload_bytes(-5);
  wire.set_history(v1::HISTORY_POLICY_NONE);
  model::QueueSettings expected = Unusual();
  expected.history = model::HistoryPolicy::kNone;
  EXPECT_EQ(Changed(wire, {"history"}), expected);
}

TEST(ChangeSettings, ALimitIsUnsetUnlessItIsThere) {
  v1::QueueSettings wire;
  WriteSettings(model::QueueSettings(), &wire);
  EXPECT_FALSE(wire.has_max_depth() || wire.has_max_bytes() || wire.has_max_enqueue_rate());
  wire.set_max_depth(0);
  const auto refused = ChangeSettings(Unusual(), wire, {"max_depth"});
  EXPECT_EQ(base::FieldOf(refused.status()), "settings.max_depth");
}

TEST(ChangeSettings, RefusesATableWithoutItsDelays) {
  const auto changed = ChangeSettings(Unusual(), {}, {"retry.delays"});
  EXPECT_EQ(base::FieldOf(changed.status()), "settings.retry.delays");
}

TEST(UpdateQueue, ChangesTheSettingsInForceByMask) {
  FakeBroker::Behaviour behaviour;
  behaviour.queue.queue.settings = Unusual();
  Front front(behaviour);
  v1::UpdateQueueRequest request;
  request.set_name("mail");
  request.mutable_update_mask()->add_paths("retry.kind");
  request.mutable_settings()->mutable_retry()->set_kind(v1::RETRY_KIND_FIXED);
  v1::UpdateQueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.queue().settings().retry().kind(), v1::RETRY_KIND_FIXED);
  EXPECT_EQ(response.queue().settings().retry().max_attempts(), 4);
  EXPECT_EQ(response.queue().settings().max_payload_bytes(), 1000);
  EXPECT_EQ(front.broker.update.version, std::nullopt);
}

TEST(UpdateQueue, WithoutAMaskChangesWhatIsSet) {
  FakeBroker::Behaviour behaviour;
  behaviour.queue.queue.settings = Unusual();
  Front front(behaviour);
  v1::UpdateQueueRequest request;
  request.set_name("mail");
  request.mutable_settings()->mutable_retry()->set_jitter(0);
  request.mutable_settings()->set_keep_results(false);
  v1::UpdateQueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  model::QueueSettings expected = Unusual();
  expected.retry.jitter = 0;
  expected.keep_results = false;
  v1::QueueSettings wire;
  WriteSettings(expected, &wire);
  EXPECT_EQ(response.queue().settings().SerializeAsString(), wire.SerializeAsString());
}

TEST(UpdateQueue, MayTurnAQueueWithDelaysIntoATable) {
  FakeBroker::Behaviour behaviour;
  behaviour.queue.queue.settings.retry.delays = {absl::Seconds(3)};
  Front front(behaviour);
  v1::UpdateQueueRequest request;
  request.set_name("mail");
  request.mutable_update_mask()->add_paths("retry.kind");
  request.mutable_settings()->mutable_retry()->set_kind(v1::RETRY_KIND_TABLE);
  v1::UpdateQueueResponse response;
  EXPECT_TRUE(front.Call(request, &response).ok());
}

}  // namespace
}  // namespace skiplane::rpc
