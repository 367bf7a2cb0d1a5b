// What a nack says from the wire and back, and the texts of a worker that are cut, not refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "server/base/reason.h"
#include "server/rpc/broker/convert_heartbeat.h"
#include "server/rpc/broker/convert_settle.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

struct Bad {
  std::string name;
  std::function<void(v1::NackItem&)> spoil;
  std::string field;
};

// Three items, of which the last one is spoilt.
std::vector<model::NackItem> Read(const std::function<void(v1::NackItem&)>& spoil) {
  v1::NackRequest request;
  for (int i = 0; i < 3; ++i) request.add_items()->set_lease_token(GoodToken());
  spoil(*request.mutable_items(2));
  const auto call = ReadNack(&request);
  EXPECT_TRUE(call.ok()) << call.status();
  if (!call.ok()) return std::vector<model::NackItem>(3);
  std::vector<model::NackItem> items;
  for (const model::SettleItem& item : call->items) {
    items.push_back(std::get<model::NackItem>(item));
  }
  return items;
}

model::TaskError ErrorOf(const std::function<void(v1::TaskError&)>& set) {
  const auto items = Read([&](v1::NackItem& item) { set(*item.mutable_error()); });
  EXPECT_TRUE(items[2].refusal.ok()) << items[2].refusal;
  return items[2].error;
}

TEST(ReadNack, ABadItemIsRefusedAloneAndNamesItsField) {
  const std::vector<Bad> table = {
      {"disposition_unknown",
       [](auto& x) { x.set_disposition(static_cast<v1::NackDisposition>(4)); }, "disposition"},
      {"delay_with_release",
       [](auto& x) {
         x.set_disposition(v1::NACK_DISPOSITION_RELEASE);
         x.mutable_retry_delay()->set_seconds(1);
       },
       "retry_delay"},
      {"delay_with_fail",
       [](auto& x) {
         x.set_disposition(v1::NACK_DISPOSITION_FAIL);
         x.mutable_retry_delay();
       },
       "retry_delay"},
      {"delay_negative", [](auto& x) { x.mutable_retry_delay()->set_seconds(-1); },
       "retry_delay"},
      {"delay_too_long", [](auto& x) { x.mutable_retry_delay()->set_seconds(86401); },
       "retry_delay"}};
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.name);
    const auto items = Read(bad.spoil);
    EXPECT_TRUE(items[0].refusal.ok());
    EXPECT_TRUE(items[1].refusal.ok());
    EXPECT_EQ(base::ReasonOf(items[2].refusal), "INVALID_FIELD");
    EXPECT_EQ(base::FieldOf(items[2].refusal), bad.field);
    EXPECT_EQ(model::EncodeLeaseToken(items[2].token), GoodToken());
  }
}

TEST(ReadNack, AnErrorThatIsTooLongIsCutBetweenTwoCharacters) {
  const std::string euro = "\xe2\x82\xac";
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_type(std::string(255, 't') + euro); }).type,
            std::string(255, 't'));
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_type(std::string(253, 't') + euro + "t"); }).type,
            std::string(253, 't') + euro);
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_fingerprint(std::string(300, 'f')); }).fingerprint,
            std::string(256, 'f'));
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_text(std::string(65535, 'x') + euro); }).text,
            std::string(65535, 'x'));
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_text(std::string(70000, '\x80')); }).text.size(), 65536u)
      << "bytes that are no UTF-8 are cut where they are too many";
  EXPECT_EQ(ErrorOf([&](auto& e) { e.set_text(std::string("a\0b", 3)); }).text,
            std::string("a\0b", 3));
}

TEST(ReadNack, ATypeOrFingerprintEndsBeforeANul) {
  EXPECT_EQ(ErrorOf([](auto& e) { e.set_type(std::string("a\0b", 3)); }).type, "a");
  EXPECT_EQ(ErrorOf([](auto& e) { e.set_fingerprint(std::string("\0b", 2)); }).fingerprint, "");
}

TEST(ReadNack, WhatFitsIsKeptAsItIs) {
  const model::TaskError error = ErrorOf([](auto& e) {
    e.set_type(std::string(256, 't'));
    e.set_text(std::string(65536, '\xff'));
    e.set_fingerprint("f");
  });
  EXPECT_EQ(error.type, std::string(256, 't'));
  EXPECT_EQ(error.text, std::string(65536, '\xff'));
  EXPECT_EQ(error.fingerprint, "f");
}

TEST(WriteResults, TellsWhyANackWasRefused) {
  model::SettleResult refused;
  refused.outcome = model::SettleOutcome::kRefused;
  refused.refusal = base::InvalidField("retry_delay", "is too long");
  std::vector<model::SettleResult> results = {refused};
  v1::NackResponse response;
  WriteSettled(&results, &response);
  EXPECT_EQ(response.results(0).outcome(), v1::SETTLE_OUTCOME_REFUSED);
  EXPECT_EQ(response.results(0).refusal().field(), "retry_delay");
  EXPECT_EQ(response.results(0).refusal().message(), "retry_delay: is too long");
}

// A heartbeat that was refused for it once cost the worker all of its leases.
TEST(ReadHeartbeat, AProgressFractionOutOfRangeIsCut) {
  const auto fraction = [](double sent) {
    v1::HeartbeatRequest request;
    request.set_worker_id("w");
    v1::HeldLease* const lease = request.add_leases();
    lease->set_lease_token(GoodToken());
    lease->mutable_progress()->set_fraction(sent);
    const auto call = ReadHeartbeat(&request);
    EXPECT_TRUE(call.ok()) << call.status();
    return call.ok() ? call->leases[0].progress->fraction : -1.0;
  };
  EXPECT_EQ(fraction(0.25), 0.25);
  EXPECT_EQ(fraction(1.0000001), 1.0);
  EXPECT_EQ(fraction(-0.001), 0.0);
  EXPECT_EQ(fraction(std::nan("")), 0.0);
  EXPECT_EQ(fraction(HUGE_VAL), 1.0);
}

TEST(ReadHeartbeat, AProgressMessageThatIsTooLongIsCut) {
  const auto message = [](const std::string& sent) {
    v1::HeartbeatRequest request;
    request.set_worker_id("w");
    v1::HeldLease* const lease = request.add_leases();
    lease->set_lease_token(GoodToken());
    lease->mutable_progress()->set_message(sent);
    const auto call = ReadHeartbeat(&request);
    EXPECT_TRUE(call.ok()) << call.status();
    return call.ok() ? call->leases[0].progress->message : "refused";
  };
  EXPECT_EQ(message(std::string(1024, 'm')), std::string(1024, 'm'));
  EXPECT_EQ(message(std::string(5000, 'm')), std::string(1024, 'm'));
  EXPECT_EQ(message(std::string(1023, 'm') + "\xc3\xa4"), std::string(1023, 'm'));
  EXPECT_EQ(message(std::string("a\0b", 3)), "a");
}

}  // namespace
}  // namespace skiplane::rpc
