#include "server/model/limits.h"
#include "tests/rpc/bad_call.h"

namespace skiplane::rpc {
namespace {

using Request = v1::LeaseRequest;
using Bad = BadCall<Request>;

Request GoodRequest() {
  Request request;
  request.add_queues()->set_name("mail");
  request.add_queues()->set_name("media");
  request.set_max_tasks(10);
  request.set_worker_id("worker");
  request.set_request_id("call");
  return request;
}

void SetWait(Request& request, int64_t seconds, int32_t nanos) {
  request.mutable_wait()->set_seconds(seconds);
  request.mutable_wait()->set_nanos(nanos);
}

void SetLease(Request& request, int64_t seconds, int32_t nanos) {
  request.mutable_lease_duration()->set_seconds(seconds);
  request.mutable_lease_duration()->set_nanos(nanos);
}

class BadLease : public ::testing::TestWithParam<Bad> {};

TEST_P(BadLease, IsRefusedOnItsField) {
  ExpectRefused<Request, v1::LeaseResponse>(GoodRequest(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Queues, BadLease,
    ::testing::Values(
        Bad{"no_queues", [](Request& r) { r.clear_queues(); }, "queues"},
        Bad{"too_many_queues",
            [](Request& r) {
              while (r.queues_size() <= model::kQueuesPerLeaseMax) {
                r.add_queues()->set_name("q" + std::to_string(r.queues_size()));
              }
            },
            "queues"},
        Bad{"queue_name_missing", [](Request& r) { r.mutable_queues(1)->clear_name(); },
            "queues[1].name"},
        Bad{"queue_name_invalid", [](Request& r) { r.mutable_queues(1)->set_name("-x"); },
            "queues[1].name"},
        Bad{"queue_twice", [](Request& r) { r.mutable_queues(1)->set_name("mail"); },
            "queues[1].name"},
        Bad{"weight_negative", [](Request& r) { r.mutable_queues(1)->set_weight(-1); },
            "queues[1].weight"},
        Bad{"weight_too_large", [](Request& r) { r.mutable_queues(0)->set_weight(1001); },
            "queues[0].weight"},
        Bad{"queue_max_tasks_negative", [](Request& r) { r.mutable_queues(0)->set_max_tasks(-1); },
            "queues[0].max_tasks"},
        Bad{"queue_max_tasks_large", [](Request& r) { r.mutable_queues(1)->set_max_tasks(1001); },
            "queues[1].max_tasks"},
        Bad{"queue_order_unknown",
            [](Request& r) { r.set_queue_order(static_cast<v1::QueueOrder>(3)); },
            "queue_order"}),
    NameOf<Request>);

INSTANTIATE_TEST_SUITE_P(
    Worker, BadLease,
    ::testing::Values(
        Bad{"worker_id_too_long", [](Request& r) { r.set_worker_id(std::string(129, 'w')); },
            "worker_id"},
        Bad{"worker_id_with_nul", [](Request& r) { r.set_worker_id(WithNul()); }, "worker_id"},
        Bad{"worker_id_not_utf8", [](Request& r) { r.set_worker_id("\xc3"); }, ""},
        Bad{"worker_name_too_long", [](Request& r) { r.set_worker_name(std::string(256, 'w')); },
            "worker_name"},
        Bad{"worker_name_with_nul", [](Request& r) { r.set_worker_name(WithNul()); },
            "worker_name"},
        Bad{"client_version_too_long",
            [](Request& r) { r.set_client_version(std::string(65, 'v')); }, "client_version"},
        Bad{"client_version_with_nul", [](Request& r) { r.set_client_version(WithNul()); },
            "client_version"},
        Bad{"concurrency_negative", [](Request& r) { r.set_concurrency(-1); }, "concurrency"},
        Bad{"concurrency_too_large", [](Request& r) { r.set_concurrency(100001); },
            "concurrency"},
        Bad{"request_id_too_long", [](Request& r) { r.set_request_id(std::string(129, 'i')); },
            "request_id"},
        Bad{"request_id_of_nobody", [](Request& r) { r.clear_worker_id(); }, "request_id"},
        Bad{"request_id_with_nul", [](Request& r) { r.set_request_id(WithNul()); },
            "request_id"}),
    NameOf<Request>);

INSTANTIATE_TEST_SUITE_P(
    Demand, BadLease,
    ::testing::Values(
        Bad{"max_tasks_missing", [](Request& r) { r.clear_max_tasks(); }, "max_tasks"},
        Bad{"max_tasks_negative", [](Request& r) { r.set_max_tasks(-1); }, "max_tasks"},
        Bad{"max_tasks_too_large", [](Request& r) { r.set_max_tasks(1001); }, "max_tasks"},
        Bad{"max_bytes_negative", [](Request& r) { r.set_max_bytes(-1); }, "max_bytes"},
        Bad{"max_bytes_too_large", [](Request& r) { r.set_max_bytes(3145729); }, "max_bytes"},
        Bad{"wait_negative", [](Request& r) { SetWait(r, 0, -1); }, "wait"},
        Bad{"wait_too_long", [](Request& r) { SetWait(r, 60, 1); }, "wait"},
        Bad{"wait_of_mixed_signs", [](Request& r) { SetWait(r, 1, -1); }, "wait"},
        Bad{"wait_beyond_protobuf", [](Request& r) { SetWait(r, 315576000001, 0); }, "wait"},
        Bad{"lease_duration_too_short", [](Request& r) { SetLease(r, 0, 999999999); },
            "lease_duration"},
        Bad{"lease_duration_too_long", [](Request& r) { SetLease(r, 43200, 1); },
            "lease_duration"},
        Bad{"lease_duration_nanos", [](Request& r) { SetLease(r, 1, 1000000000); },
            "lease_duration"}),
    NameOf<Request>);

TEST(LeaseLimits, TheExtremesAreAcceptedAsTheyAre) {
  Front front;
  Request request = GoodRequest();
  request.mutable_queues(1)->set_weight(1000);
  request.set_queue_order(v1::QUEUE_ORDER_STRICT);
  request.set_worker_id(std::string(128, 'w'));
  request.set_worker_name(std::string(255, 'n'));
  request.set_client_version(std::string(64, 'v'));
  request.set_concurrency(100000);
  request.set_max_tasks(1000);
  request.set_max_bytes(3145728);
  SetLease(request, 43200, 0);
  request.set_request_id(std::string(128, 'i'));
  v1::LeaseResponse response;
  const grpc::Status status = front.Call(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const broker::LeaseCall& seen = front.broker.lease;
  EXPECT_EQ(seen.queues.at(0).weight, 1);
  EXPECT_EQ(seen.queues.at(1).weight, 1000);
  EXPECT_TRUE(seen.strict_order);
  EXPECT_EQ(seen.worker_name, request.worker_name());
  EXPECT_EQ(seen.client_version, request.client_version());
  EXPECT_EQ(seen.concurrency, 100000);
  EXPECT_EQ(seen.max_tasks, 1000);
  EXPECT_EQ(seen.max_bytes, 3145728);
  EXPECT_EQ(seen.lease_duration, absl::Hours(12));
  EXPECT_EQ(seen.request_id, request.request_id());
}

TEST(LeaseLimits, UnsetFieldsTakeTheirDefaults) {
  Front front;
  v1::LeaseResponse response;
  ASSERT_TRUE(front.Call(GoodRequest(), &response).ok());
  const broker::LeaseCall& seen = front.broker.lease;
  EXPECT_EQ(seen.max_bytes, 3145728);
  EXPECT_EQ(seen.wait, absl::ZeroDuration());
  EXPECT_EQ(seen.lease_duration, std::nullopt);
  EXPECT_FALSE(seen.strict_order);
}

}  // namespace
}  // namespace skiplane::rpc
