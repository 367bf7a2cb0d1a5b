#include <cmath>
#include <limits>

#include "server/model/limits.h"
#include "server/rpc/call/page_token.h"
#include "tests/rpc/bad_call.h"

namespace skiplane::rpc {
namespace {

using BadCreate = BadCall<v1::CreateQueueRequest>;
using BadUpdate = BadCall<v1::UpdateQueueRequest>;
using BadList = BadCall<v1::ListQueuesRequest>;
using BadPause = BadCall<v1::PauseQueueRequest>;

template <typename Request>
Request Named() {
  Request request;
  request.set_name("mail");
  return request;
}

v1::UpdateQueueRequest GoodUpdate() {
  v1::UpdateQueueRequest request = Named<v1::UpdateQueueRequest>();
  request.mutable_settings()->set_keep_results(true);
  return request;
}

BadCreate BadSetting(const std::string& name,
                     const std::function<void(v1::QueueSettings&)>& spoil,
                     const std::string& field) {
  return {name, [spoil](v1::CreateQueueRequest& r) { spoil(*r.mutable_settings()); },
          "settings." + field};
}

class BadCreateQueue : public ::testing::TestWithParam<BadCreate> {};

TEST_P(BadCreateQueue, IsRefusedOnItsField) {
  ExpectRefused<v1::CreateQueueRequest, v1::CreateQueueResponse>(
      Named<v1::CreateQueueRequest>(), GetParam());
}

// The same settings in an update, which takes them all.
TEST_P(BadCreateQueue, IsRefusedInAnUpdateToo) {
  v1::CreateQueueRequest create = Named<v1::CreateQueueRequest>();
  GetParam().spoil(create);
  if (!create.has_settings()) return;
  const BadUpdate update = {
      "update", [&create](auto& r) {
        *r.mutable_settings() = create.settings();
        r.mutable_update_mask()->add_paths("*");
      },
      GetParam().field};
  ExpectRefused<v1::UpdateQueueRequest, v1::UpdateQueueResponse>(GoodUpdate(), update);
}

INSTANTIATE_TEST_SUITE_P(
    Queue, BadCreateQueue,
    ::testing::Values(
        BadCreate{"name_missing", [](auto& r) { r.clear_name(); }, "name"},
        BadCreate{"name_too_long", [](auto& r) { r.set_name(std::string(129, 'n')); }, "name"},
        BadCreate{"name_with_umlaut", [](auto& r) { r.set_name("m\xc3\xbcll"); }, "name"},
        BadCreate{"lanes_negative", [](auto& r) { r.set_lane_count(-1); }, "lane_count"},
        BadCreate{"lanes_too_many", [](auto& r) { r.set_lane_count(65); }, "lane_count"}),
    NameOf<v1::CreateQueueRequest>);

INSTANTIATE_TEST_SUITE_P(
    Settings, BadCreateQueue,
    ::testing::Values(
        BadSetting("history_unknown",
                   [](auto& s) { s.set_history(static_cast<v1::HistoryPolicy>(4)); }, "history"),
        BadSetting("lease_duration_zero", [](auto& s) { s.mutable_lease_duration(); },
                   "lease_duration"),
        BadSetting("lease_duration_too_long",
                   [](auto& s) { s.mutable_lease_duration()->set_seconds(43201); },
                   "lease_duration"),
        BadSetting("lease_duration_nanos",
                   [](auto& s) { s.mutable_lease_duration()->set_nanos(1000000000); },
                   "lease_duration"),
        BadSetting("payload_bytes_zero", [](auto& s) { s.set_max_payload_bytes(0); },
                   "max_payload_bytes"),
        BadSetting("history_days_zero", [](auto& s) { s.set_history_days(0); }, "history_days"),
        BadSetting("failed_days_zero", [](auto& s) { s.set_failed_days(0); }, "failed_days"),
        BadSetting("stage_max_attempts_zero",
                   [](auto& s) {
                     s.add_stages()->set_name("first");
                     s.mutable_stages(0)->mutable_retry()->set_max_attempts(0);
                   },
                   "stages[0].retry.max_attempts"),
        BadSetting("payload_bytes_negative", [](auto& s) { s.set_max_payload_bytes(-1); },
                   "max_payload_bytes"),
        BadSetting("payload_bytes_too_large", [](auto& s) { s.set_max_payload_bytes(1048577); },
                   "max_payload_bytes")),
    NameOf<v1::CreateQueueRequest>);

BadCreate BadRetry(const std::string& name, const std::function<void(v1::RetryPolicy&)>& spoil,
                   const std::string& field) {
  return BadSetting(
      name, [spoil](v1::QueueSettings& s) { spoil(*s.mutable_retry()); }, "retry." + field);
}

INSTANTIATE_TEST_SUITE_P(
    Retry, BadCreateQueue,
    ::testing::Values(
        BadRetry("kind_unknown", [](auto& p) { p.set_kind(static_cast<v1::RetryKind>(5)); },
                 "kind"),
        BadRetry("base_delay_negative", [](auto& p) { p.mutable_base_delay()->set_nanos(-1); },
                 "base_delay"),
        BadRetry("base_delay_too_long",
                 [](auto& p) { p.mutable_base_delay()->set_seconds(86401); }, "base_delay"),
        BadRetry("factor_zero", [](auto& p) { p.set_factor(0); }, "factor"),
        BadRetry("factor_too_small", [](auto& p) { p.set_factor(0.99); }, "factor"),
        BadRetry("factor_too_large", [](auto& p) { p.set_factor(10.01); }, "factor"),
        BadRetry("factor_nan", [](auto& p) { p.set_factor(std::nan("")); }, "factor"),
        BadRetry("max_delay_too_short", [](auto& p) { p.mutable_max_delay()->set_nanos(1); },
                 "max_delay"),
        BadRetry("max_delay_too_long", [](auto& p) { p.mutable_max_delay()->set_seconds(86401); },
                 "max_delay"),
        BadRetry("table_empty", [](auto& p) { p.set_kind(v1::RETRY_KIND_TABLE); }, "delays"),
        BadRetry("table_too_long",
                 [](auto& p) {
                   p.set_kind(v1::RETRY_KIND_TABLE);
                   for (int i = 0; i < 101; ++i) p.add_delays();
                 },
                 "delays"),
        BadRetry("table_entry_too_long",
                 [](auto& p) {
                   p.set_kind(v1::RETRY_KIND_TABLE);
                   p.add_delays();
                   p.add_delays()->set_seconds(86401);
                 },
                 "delays[1]"),
        BadRetry("table_entry_of_mixed_signs",
                 [](auto& p) {
                   p.add_delays()->set_seconds(1);
                   p.mutable_delays(0)->set_nanos(-1);
                 },
                 "delays[0]"),
        BadRetry("jitter_negative", [](auto& p) { p.set_jitter(-0.01); }, "jitter"),
        BadRetry("jitter_too_large", [](auto& p) { p.set_jitter(0.51); }, "jitter"),
        BadRetry("jitter_infinite",
                 [](auto& p) { p.set_jitter(std::numeric_limits<double>::infinity()); }, "jitter"),
        BadRetry("max_attempts_zero", [](auto& p) { p.set_max_attempts(0); }, "max_attempts"),
        BadRetry("max_attempts_negative", [](auto& p) { p.set_max_attempts(-1); },
                 "max_attempts"),
        BadRetry("max_attempts_too_large", [](auto& p) { p.set_max_attempts(1001); },
                 "max_attempts")),
    NameOf<v1::CreateQueueRequest>);

class BadUpdateQueue : public ::testing::TestWithParam<BadUpdate> {};

TEST_P(BadUpdateQueue, IsRefusedOnItsField) {
  ExpectRefused<v1::UpdateQueueRequest, v1::UpdateQueueResponse>(GoodUpdate(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadUpdateQueue,
    ::testing::Values(
        BadUpdate{"name_missing", [](auto& r) { r.clear_name(); }, "name"},
        BadUpdate{"nothing_to_change", [](auto& r) {
                    r.clear_settings();
                    r.mutable_settings()->mutable_retry();
                  },
                  "settings"},
        BadUpdate{"mask_unknown",
                  [](auto& r) {
                    r.mutable_update_mask()->add_paths("history");
                    r.mutable_update_mask()->add_paths("lane_count");
                  },
                  "update_mask.paths[1]"},
        BadUpdate{"mask_too_deep",
                  [](auto& r) { r.mutable_update_mask()->add_paths("retry.base_delay.seconds"); },
                  "update_mask.paths[0]"},
        BadUpdate{"mask_empty_path", [](auto& r) { r.mutable_update_mask()->add_paths(""); },
                  "update_mask.paths[0]"},
        BadUpdate{"mask_star_below", [](auto& r) { r.mutable_update_mask()->add_paths("retry.*"); },
                  "update_mask.paths[0]"},
        BadUpdate{"mask_star_among_others",
                  [](auto& r) {
                    r.mutable_update_mask()->add_paths("history");
                    r.mutable_update_mask()->add_paths("*");
                  },
                  "update_mask.paths[1]"},
        BadUpdate{"mask_path_twice",
                  [](auto& r) {
                    r.mutable_update_mask()->add_paths("retry");
                    r.mutable_update_mask()->add_paths("history");
                    r.mutable_update_mask()->add_paths("retry");
                  },
                  "update_mask.paths[2]"}),
    NameOf<v1::UpdateQueueRequest>);

class BadListQueues : public ::testing::TestWithParam<BadList> {};

TEST_P(BadListQueues, IsRefusedOnItsField) {
  ExpectRefused<v1::ListQueuesRequest, v1::ListQueuesResponse>({}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadListQueues,
    ::testing::Values(
        BadList{"page_size_negative", [](auto& r) { r.set_page_size(-1); }, "page_size"},
        BadList{"page_token_made_up", [](auto& r) { r.set_page_token("bWFpbA"); }, "page_token"},
        BadList{"page_token_of_no_name",
                [](auto& r) { r.set_page_token(EncodePageToken("no name")); }, "page_token"}),
    NameOf<v1::ListQueuesRequest>);

class BadPauseQueue : public ::testing::TestWithParam<BadPause> {};

TEST_P(BadPauseQueue, IsRefusedOnItsField) {
  ExpectRefused<v1::PauseQueueRequest, v1::PauseQueueResponse>(
      Named<v1::PauseQueueRequest>(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadPauseQueue,
    ::testing::Values(
        BadPause{"name_missing", [](auto& r) { r.clear_name(); }, "name"},
        BadPause{"mode_unknown", [](auto& r) { r.set_mode(static_cast<v1::PauseMode>(5)); },
                 "mode"},
        BadPause{"mode_none", [](auto& r) { r.set_mode(v1::PAUSE_MODE_NONE); }, "mode"},
        BadPause{"reason_too_long", [](auto& r) { r.set_reason(std::string(1025, 'r')); },
                 "reason"},
        BadPause{"reason_with_nul", [](auto& r) { r.set_reason(WithNul()); }, "reason"}),
    NameOf<v1::PauseQueueRequest>);

TEST(BadNames, AreRefusedByTheCallsThatTakeNothingElse) {
  using BadGet = BadCall<v1::GetQueueRequest>;
  using BadResume = BadCall<v1::ResumeQueueRequest>;
  ExpectRefused<v1::GetQueueRequest, v1::GetQueueResponse>(
      Named<v1::GetQueueRequest>(), BadGet{"get", [](auto& r) { r.set_name(".x"); }, "name"});
  ExpectRefused<v1::ResumeQueueRequest, v1::ResumeQueueResponse>(
      Named<v1::ResumeQueueRequest>(),
      BadResume{"resume", [](auto& r) { r.clear_name(); }, "name"});
}

TEST(BadPageOfAttempts, IsRefused) {
  v1::GetTaskRequest good;
  good.set_task_id(model::FormatTaskId({7, 1}));
  using Bad = BadCall<v1::GetTaskRequest>;
  ExpectRefused<v1::GetTaskRequest, v1::GetTaskResponse>(
      good, Bad{"size", [](auto& r) { r.set_attempts_page_size(-1); }, "attempts_page_size"});
  ExpectRefused<v1::GetTaskRequest, v1::GetTaskResponse>(
      good, Bad{"token", [](auto& r) { r.set_attempts_page_token("x"); }, "attempts_page_token"});
}

TEST(BadTaskId, IsRefused) {
  v1::GetTaskRequest good;
  good.set_task_id(model::FormatTaskId({7, 1}));
  const std::vector<std::string> texts = {"", "7", "7-1x", WithNul()};
  for (const std::string& text : texts) {
    const BadCall<v1::GetTaskRequest> bad = {
        "id", [&text](auto& r) { r.set_task_id(text); }, "task_id"};
    ExpectRefused<v1::GetTaskRequest, v1::GetTaskResponse>(good, bad);
  }
}

using BadGetTask = BadCall<v1::GetTaskRequest>;

class BadTaskKey : public ::testing::TestWithParam<BadGetTask> {};

TEST_P(BadTaskKey, IsRefusedOnItsField) {
  v1::GetTaskRequest good;
  good.set_queue("mail");
  good.set_key("k");
  ExpectRefused<v1::GetTaskRequest, v1::GetTaskResponse>(good, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    GetTask, BadTaskKey,
    ::testing::Values(
        BadGetTask{"nothing", [](auto& r) { r.Clear(); }, "task_id"},
        BadGetTask{"queue_missing", [](auto& r) { r.clear_queue(); }, "queue"},
        BadGetTask{"key_missing", [](auto& r) { r.clear_key(); }, "key"},
        BadGetTask{"key_too_long", [](auto& r) { r.set_key(std::string(256, 'k')); }, "key"},
        BadGetTask{"key_with_nul", [](auto& r) { r.set_key(WithNul()); }, "key"},
        BadGetTask{"queue_with_slash", [](auto& r) { r.set_queue("a/b"); }, "queue"},
        BadGetTask{"also_an_id", [](auto& r) { r.set_task_id("7-1"); }, "queue"},
        BadGetTask{"key_and_id",
                   [](auto& r) {
                     r.clear_queue();
                     r.set_task_id("7-1");
                   },
                   "key"},
        BadGetTask{"page_token", [](auto& r) { r.set_attempts_page_token("x"); },
                   "attempts_page_token"},
        BadGetTask{"wait_too_long", [](auto& r) { r.mutable_wait()->set_seconds(61); }, "wait"},
        BadGetTask{"wait_negative", [](auto& r) { r.mutable_wait()->set_seconds(-1); }, "wait"}),
    NameOf<v1::GetTaskRequest>);

}  // namespace
}  // namespace skiplane::rpc
