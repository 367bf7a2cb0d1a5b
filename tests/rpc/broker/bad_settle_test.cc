
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/model/limits.h"
#include "tests/rpc/bad_call.h"

namespace skiplane::rpc {
namespace {

using BadAckCall = BadCall<v1::AckRequest>;
using BadNackCall = BadCall<v1::NackRequest>;
using BadSettleCall = BadCall<v1::SettleRequest>;
using BadHeartbeatCall = BadCall<v1::HeartbeatRequest>;

constexpr char kMalformed[] = "INVALID_LEASE_TOKEN";

template <typename Request>
Request GoodSettle() {
  Request request;
  for (int i = 0; i < 3; ++i) request.add_items()->set_lease_token(SealedToken());
  return request;
}

v1::HeartbeatRequest GoodBeat() {
  v1::HeartbeatRequest request;
  request.set_worker_id("w");
  for (int i = 0; i < 3; ++i) request.add_leases()->set_lease_token(SealedToken());
  return request;
}

std::string ChangedToken() {
  std::string token = SealedToken();
  token[token.size() / 2] = static_cast<char>(token[token.size() / 2] ^ 1);
  return token;
}

TEST(BadToken, IsToldWhoseItMustBe) {
  Front front;
  v1::AckRequest request;
  request.add_items()->set_lease_token(ChangedToken());
  v1::AckResponse response;
  EXPECT_TRUE(absl::StrContains(front.Call(request, &response).error_message(),
                                "returned to the same principal"));
}

class BadAck : public ::testing::TestWithParam<BadAckCall> {};

TEST_P(BadAck, IsRefusedOnItsField) {
  ExpectRefused<v1::AckRequest, v1::AckResponse>(GoodSettle<v1::AckRequest>(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Items, BadAck,
    ::testing::Values(
        BadAckCall{"no_items", [](v1::AckRequest& r) { r.clear_items(); }, "items"},
        BadAckCall{"too_many_items",
                   [](v1::AckRequest& r) {
                     while (r.items_size() < 1001) r.add_items()->set_lease_token(SealedToken());
                   },
                   "items"},
        BadAckCall{"token_missing",
                   [](v1::AckRequest& r) { r.mutable_items(1)->clear_lease_token(); },
                   "items[1].lease_token", kMalformed},
        BadAckCall{"token_changed",
                   [](v1::AckRequest& r) { r.mutable_items(1)->set_lease_token(ChangedToken()); },
                   "items[1].lease_token", kMalformed},
        BadAckCall{"token_cut",
                   [](v1::AckRequest& r) { r.mutable_items(0)->mutable_lease_token()->pop_back(); },
                   "items[0].lease_token", kMalformed},
        BadAckCall{"token_too_long",
                   [](v1::AckRequest& r) {
                     r.mutable_items(2)->set_lease_token(std::string(1000, 't'));
                   },
                   "items[2].lease_token", kMalformed},
        BadAckCall{"nothing_to_lease_from",
                   [](v1::AckRequest& r) { r.mutable_lease_next()->set_max_tasks(1); },
                   "lease_next.queues"},
        BadAckCall{"a_bad_queue_to_lease_from",
                   [](v1::AckRequest& r) {
                     r.mutable_lease_next()->set_max_tasks(1);
                     r.mutable_lease_next()->add_queues()->set_name("a b");
                   },
                   "lease_next.queues[0].name"}),
    NameOf<v1::AckRequest>);

class BadNack : public ::testing::TestWithParam<BadNackCall> {};

TEST_P(BadNack, IsRefusedOnItsField) {
  ExpectRefused<v1::NackRequest, v1::NackResponse>(GoodSettle<v1::NackRequest>(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Items, BadNack,
    ::testing::Values(
        BadNackCall{"no_items", [](v1::NackRequest& r) { r.clear_items(); }, "items"},
        BadNackCall{"too_many_items",
                    [](v1::NackRequest& r) {
                      while (r.items_size() < 1001) r.add_items()->set_lease_token(SealedToken());
                    },
                    "items"},
        BadNackCall{"token_changed",
                    [](v1::NackRequest& r) { r.mutable_items(1)->set_lease_token(ChangedToken()); },
                    "items[1].lease_token", kMalformed}),
    NameOf<v1::NackRequest>);

v1::SettleRequest GoodMixedSettle() {
  v1::SettleRequest request;
  request.add_items()->mutable_ack()->set_lease_token(SealedToken());
  request.add_items()->mutable_nack()->set_lease_token(SealedToken());
  request.add_items()->mutable_release()->set_lease_token(SealedToken());
  return request;
}

class BadSettle : public ::testing::TestWithParam<BadSettleCall> {};

TEST_P(BadSettle, IsRefusedOnItsField) {
  ExpectRefused<v1::SettleRequest, v1::SettleResponse>(GoodMixedSettle(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Items, BadSettle,
    ::testing::Values(
        BadSettleCall{"no_items", [](auto& r) { r.clear_items(); }, "items"},
        BadSettleCall{"too_many_items",
                      [](auto& r) {
                        while (r.items_size() < 1001) *r.add_items() = r.items(0);
                      },
                      "items"},
        BadSettleCall{"settlement_missing",
                      [](auto& r) { r.mutable_items(1)->clear_settlement(); },
                      "items[1].settlement"},
        BadSettleCall{"ack_without_token",
                      [](auto& r) { r.mutable_items(0)->mutable_ack()->clear_lease_token(); },
                      "items[0].ack.lease_token", kMalformed},
        BadSettleCall{"nack_token_changed",
                      [](auto& r) {
                        r.mutable_items(1)->mutable_nack()->set_lease_token(ChangedToken());
                      },
                      "items[1].nack.lease_token", kMalformed},
        BadSettleCall{"release_token_changed",
                      [](auto& r) {
                        r.mutable_items(2)->mutable_release()->set_lease_token(ChangedToken());
                      },
                      "items[2].release.lease_token", kMalformed},
        BadSettleCall{"lease_next_without_a_queue",
                      [](auto& r) { r.mutable_lease_next()->set_max_tasks(1); },
                      "lease_next.queues"}),
    NameOf<v1::SettleRequest>);

class BadHeartbeat : public ::testing::TestWithParam<BadHeartbeatCall> {};

TEST_P(BadHeartbeat, IsRefusedOnItsField) {
  ExpectRefused<v1::HeartbeatRequest, v1::HeartbeatResponse>(GoodBeat(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, BadHeartbeat,
    ::testing::Values(
        BadHeartbeatCall{"worker_id_missing", [](auto& r) { r.clear_worker_id(); }, "worker_id"},
        BadHeartbeatCall{"worker_id_too_long",
                         [](auto& r) { r.set_worker_id(std::string(129, 'w')); }, "worker_id"},
        BadHeartbeatCall{"worker_id_with_nul", [](auto& r) { r.set_worker_id(WithNul()); },
                         "worker_id"},
        BadHeartbeatCall{"lease_duration_zero", [](auto& r) { r.mutable_lease_duration(); },
                         "lease_duration"},
        BadHeartbeatCall{"lease_duration_too_long",
                         [](auto& r) { r.mutable_lease_duration()->set_seconds(43201); },
                         "lease_duration"},
        BadHeartbeatCall{"too_many_leases",
                         [](auto& r) {
                           while (r.leases_size() < 1001)
                             r.add_leases()->set_lease_token(SealedToken());
                         },
                         "leases"},
        BadHeartbeatCall{"token_changed",
                         [](auto& r) { r.mutable_leases(1)->set_lease_token(ChangedToken()); },
                         "leases[1].lease_token", kMalformed}),
    NameOf<v1::HeartbeatRequest>);

TEST(SettleLimits, OneBadTokenAmong500IsNamed) {
  Front front;
  v1::AckRequest request;
  for (int i = 0; i < 500; ++i) request.add_items()->set_lease_token(SealedToken());
  request.mutable_items(417)->set_lease_token("made up");
  v1::AckResponse response;
  const grpc::Status status = front.Call(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Decode(status).info.reason(), kMalformed);
  EXPECT_EQ(Decode(status).Field(), "items[417].lease_token");
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("items[417]"));
  EXPECT_EQ(front.broker.calls(), 0);
}

}  // namespace
}  // namespace skiplane::rpc
