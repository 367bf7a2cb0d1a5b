// Tests what enqueues and the handler of a worker, without a broker: with skiplane::testing.
#include <gtest/gtest.h>

#include <string>

#include "skiplane/testing.h"

namespace {

// The program gives it its Client.
absl::Status PlaceOrder(skiplane::Producer& producer, const std::string& order) {
  return producer.Enqueue("mail", {.payload = "hello", .key = order}).status();
}

skiplane::Result SendMail(const skiplane::LeasedTask& task, skiplane::Attempt&) {
  if (task.attempt == 1) return skiplane::Result::Retry({.type = "SmtpError"});
  return skiplane::Result::Done();
}

TEST(OrdersTest, AMailThatCannotBeSentIsSentFiveMinutesLater) {
  skiplane::InMemoryBroker broker;
  auto worker = broker.StartWorker({.queues = {{.name = "mail"}}}, SendMail);
  ASSERT_TRUE(PlaceOrder(broker, "order-17").ok());

  broker.RunUntilIdle();
  auto waiting = broker.Tasks("mail", skiplane::TaskState::kScheduled);
  ASSERT_EQ(waiting.size(), 1);
  EXPECT_EQ(waiting[0].task.last_error->type, "SmtpError");

  broker.RunFor(absl::Minutes(5));
  EXPECT_EQ(broker.Tasks("mail", skiplane::TaskState::kSucceeded).size(), 1);
}

TEST(OrdersTest, AnOrderThatCannotBePlacedIsAnError) {
  skiplane::InMemoryBroker broker;
  broker.FailEnqueues(1, absl::UnavailableError("no broker"));
  EXPECT_FALSE(PlaceOrder(broker, "order-17").ok());
  EXPECT_TRUE(broker.Tasks("mail").empty());
}

}  // namespace
