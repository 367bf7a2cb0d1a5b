#include "absl/strings/str_cat.h"
#include "server/model/limits.h"
#include "tests/rpc/bad_call.h"

namespace skiplane::rpc {
namespace {

using Request = v1::EnqueueRequest;
using Bad = BadCall<Request>;

// Four tasks; the last one is spoilt.
Request GoodRequest() {
  Request request;
  request.set_queue("mail");
  for (int i = 0; i < 4; ++i) request.add_tasks()->set_payload("x");
  return request;
}

v1::NewTask& Last(Request& request) {
  return *request.mutable_tasks(request.tasks_size() - 1);
}

Bad BadTask(const std::string& name, const std::function<void(v1::NewTask&)>& spoil,
            const std::string& field) {
  return {name, [spoil](Request& r) { spoil(Last(r)); }, "tasks[3]." + field};
}

class BadEnqueue : public ::testing::TestWithParam<Bad> {};

TEST_P(BadEnqueue, IsRefusedOnItsField) {
  ExpectRefused<Request, v1::EnqueueResponse>(GoodRequest(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Call, BadEnqueue,
    ::testing::Values(
        Bad{"queue_missing", [](Request& r) { r.clear_queue(); }, "queue"},
        Bad{"queue_too_long", [](Request& r) { r.set_queue(std::string(129, 'q')); }, "queue"},
        Bad{"queue_reserved", [](Request& r) { r.set_queue("__other__"); }, "queue"},
        Bad{"queue_with_slash", [](Request& r) { r.set_queue("a/b"); }, "queue"},
        Bad{"queue_with_nul", [](Request& r) { r.set_queue(WithNul()); }, "queue"},
        Bad{"queue_not_utf8", [](Request& r) { r.set_queue("\xff"); }, ""},
        Bad{"no_tasks", [](Request& r) { r.clear_tasks(); }, "tasks"},
        Bad{"too_many_tasks",
            [](Request& r) {
              while (r.tasks_size() <= model::kTasksPerCallMax) r.add_tasks();
            },
            "tasks"},
        Bad{"request_id_too_long", [](Request& r) { r.set_request_id(std::string(129, 'i')); },
            "request_id"},
        Bad{"request_id_with_nul", [](Request& r) { r.set_request_id(WithNul()); }, "request_id"}),
    NameOf<Request>);

INSTANTIATE_TEST_SUITE_P(
    Task, BadEnqueue,
    ::testing::Values(
        BadTask("payload_too_long",
                [](auto& x) { x.set_payload(std::string((1 << 20) + 1, 'p')); }, "payload"),
        BadTask("content_type_too_long",
                [](auto& x) { x.set_content_type(std::string(256, 'c')); }, "content_type"),
        BadTask("content_type_with_nul",
                [](auto& x) { x.set_content_type(WithNul()); }, "content_type"),
        BadTask("too_many_headers",
                [](auto& x) {
                  for (int i = 0; i < 65; ++i) (*x.mutable_headers())[absl::StrCat("k", i)] = "v";
                },
                "headers"),
        BadTask("header_key_empty", [](auto& x) { (*x.mutable_headers())[""] = "v"; },
                "headers[\"\"]"),
        BadTask("header_key_too_long",
                [](auto& x) { (*x.mutable_headers())[std::string(129, 'k')] = "v"; },
                absl::StrCat("headers[\"", std::string(64, 'k'), "\"]")),
        BadTask("header_key_with_nul",
                [](auto& x) { (*x.mutable_headers())[WithNul()] = "v"; },
                "headers[\"a\\000b\"]"),
        BadTask("header_value_too_long",
                [](auto& x) { (*x.mutable_headers())["x"] = std::string(4097, 'v'); },
                "headers[\"x\"]"),
        BadTask("header_value_with_nul",
                [](auto& x) { (*x.mutable_headers())["x"] = WithNul(); },
                "headers[\"x\"]"),
        BadTask("priority_too_small", [](auto& x) { x.set_priority(-32769); }, "priority"),
        BadTask("priority_too_large", [](auto& x) { x.set_priority(32768); }, "priority"),
        BadTask("max_attempts_negative", [](auto& x) { x.set_max_attempts(-1); },
                "max_attempts"),
        BadTask("max_attempts_too_large", [](auto& x) { x.set_max_attempts(1001); },
                "max_attempts"),
        BadTask("key_too_long", [](auto& x) { x.set_key(std::string(256, 'k')); }, "key"),
        BadTask("key_with_nul", [](auto& x) { x.set_key(WithNul()); }, "key")),
    NameOf<Request>);

INSTANTIATE_TEST_SUITE_P(
    Start, BadEnqueue,
    ::testing::Values(
        BadTask("delay_negative", [](auto& x) { x.mutable_delay()->set_seconds(-1); },
                "delay"),
        BadTask("delay_beyond_10_years",
                [](auto& x) { x.mutable_delay()->set_seconds(3654LL * 86400); }, "delay"),
        BadTask("delay_nanos_beyond_a_second",
                [](auto& x) { x.mutable_delay()->set_nanos(1000000000); }, "delay"),
        BadTask("delay_of_mixed_signs",
                [](auto& x) {
                  x.mutable_delay()->set_seconds(1);
                  x.mutable_delay()->set_nanos(-1);
                },
                "delay"),
        BadTask("schedule_time_beyond_10_years",
                [](auto& x) {
                  x.mutable_schedule_time()->set_seconds(
                      absl::ToUnixSeconds(absl::Now() + absl::Hours(24 * 3655)));
                },
                "schedule_time"),
        BadTask("schedule_time_nanos_negative",
                [](auto& x) { x.mutable_schedule_time()->set_nanos(-1); },
                "schedule_time"),
        BadTask("schedule_time_nanos_beyond_a_second",
                [](auto& x) { x.mutable_schedule_time()->set_nanos(1000000000); },
                "schedule_time"),
        BadTask("schedule_time_before_year_1",
                [](auto& x) { x.mutable_schedule_time()->set_seconds(-62135596801); },
                "schedule_time"),
        BadTask("schedule_time_after_year_9999",
                [](auto& x) { x.mutable_schedule_time()->set_seconds(253402300800); },
                "schedule_time")),
    NameOf<Request>);

TEST(EnqueueLimits, TheLargestTaskIsAccepted) {
  Front front;
  Request request;
  request.set_queue(std::string(128, 'q'));
  request.set_request_id(std::string(128, 'i'));
  v1::NewTask* task = request.add_tasks();
  task->set_payload(std::string(1 << 20, '\0'));
  task->set_content_type(std::string(255, 'c'));
  for (int i = 0; i < 64; ++i) {
    const std::string key = absl::StrCat(std::string(126, 'k'), i + 10);
    (*task->mutable_headers())[key] = std::string(4096, 'v');
  }
  task->set_priority(-32768);
  task->mutable_delay()->set_seconds(3653LL * 86400);
  task->set_max_attempts(1000);
  task->set_key(std::string(255, 'k'));
  v1::EnqueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const model::NewTask& seen = front.broker.enqueue.tasks.at(0);
  EXPECT_EQ(seen.payload, task->payload());
  EXPECT_EQ(seen.headers.size(), 64U);
  EXPECT_TRUE(std::is_sorted(seen.headers.begin(), seen.headers.end()));
  EXPECT_EQ(seen.priority, -32768);
  EXPECT_EQ(seen.delay, absl::Hours(24 * 3653));
  EXPECT_EQ(seen.max_attempts, 1000);
}

TEST(EnqueueLimits, OneBadTaskAmong500IsNamed) {
  Front front;
  Request request;
  request.set_queue("mail");
  for (int i = 0; i < 500; ++i) request.add_tasks()->set_key(absl::StrCat(i));
  request.mutable_tasks(321)->set_priority(40000);
  v1::EnqueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  EXPECT_EQ(Decode(status).Field(), "tasks[321].priority");
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("tasks[321].priority"));
  EXPECT_EQ(front.broker.calls(), 0);
}

TEST(EnqueueLimits, ARequestAboveFourMebibytesIsRefusedAndTheNextWorks) {
  Front front;
  Request request;
  request.set_queue("mail");
  for (int i = 0; i < 5; ++i) request.add_tasks()->set_payload(std::string(900000, 'p'));
  v1::EnqueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Decode(status).info.reason(), "REQUEST_TOO_LARGE");
  EXPECT_FALSE(Decode(status).retry.has_retry_delay());
  EXPECT_EQ(front.broker.calls(), 0);
  EXPECT_TRUE(front.Call(GoodRequest(), &response).ok());
}

TEST(EnqueueLimits, FourMebibytesAreNotTooLarge) {
  Front front;
  Request request = GoodRequest();
  request.clear_tasks();
  for (int i = 0; i < 4; ++i) request.add_tasks()->set_payload(std::string(1 << 20, 'p'));
  request.mutable_tasks(3)->mutable_payload()->resize((4 << 20) - 3 * (1 << 20) - 100);
  const auto slack = static_cast<size_t>(4 << 20) - request.ByteSizeLong();
  request.mutable_tasks(3)->mutable_payload()->append(slack, 'p');
  ASSERT_EQ(request.ByteSizeLong(), size_t{4} << 20);
  v1::EnqueueResponse response;
  EXPECT_TRUE(front.Call(request, &response).ok());
  request.mutable_tasks(3)->mutable_payload()->push_back('p');
  EXPECT_EQ(Decode(front.Call(request, &response)).info.reason(), "REQUEST_TOO_LARGE");
}

// Without a bound on what gRPC holds the server would have all of it before it could refuse.
TEST(EnqueueLimits, ARequestLargerThanTheMemoryOfGrpcIsBrokenOffAndTheNextWorks) {
  ServerOptions options;
  options.limits.memory_bytes = 8 << 20;
  Front front({}, options);
  Request request;
  request.set_queue("mail");
  request.add_tasks()->set_payload(std::string(16 << 20, 'p'));
  v1::EnqueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Decode(status).info.reason(), "");
  EXPECT_EQ(front.broker.calls(), 0);
  EXPECT_TRUE(front.Call(GoodRequest(), &response).ok());
}

}  // namespace
}  // namespace skiplane::rpc
