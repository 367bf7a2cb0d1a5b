#include "server/rpc/broker/convert_enqueue.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

// A task for each of these queues; an empty one names none.
v1::EnqueueRequest RequestOf(const std::string& queue, const std::vector<std::string>& queues) {
  v1::EnqueueRequest request;
  request.set_queue(queue);
  for (const std::string& own : queues) request.add_tasks()->set_queue(own);
  return request;
}

broker::EnqueueCall Read(v1::EnqueueRequest request) {
  auto call = ReadEnqueue(&request);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? *std::move(call) : broker::EnqueueCall();
}

std::string FieldAtFault(v1::EnqueueRequest request) {
  const absl::Status status = ReadEnqueue(&request).status();
  EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD");
  return base::FieldOf(status);
}

TEST(ReadEnqueue, OneQueueIsThatOfTheCallWhereverItIsNamed) {
  const std::tuple<std::string, std::vector<std::string>, std::string> requests[] = {
      {"a", {"", ""}, "queue"},
      {"a", {"", "a"}, "queue"},
      {"a", {"a", "a"}, "queue"},
      {"", {"a", "a"}, "tasks[0].queue"},
      {"b", {"a", "a"}, "tasks[0].queue"}};
  for (const auto& [queue, queues, field] : requests) {
    const broker::EnqueueCall call = Read(RequestOf(queue, queues));
    EXPECT_EQ(call.queue, "a");
    EXPECT_EQ(call.queue_field, field);
    EXPECT_FALSE(call.has_several_queues);
    for (const model::NewTask& task : call.tasks) EXPECT_EQ(task.queue, "");
  }
}

TEST(ReadEnqueue, TasksOfSeveralQueuesNameTheirs) {
  const broker::EnqueueCall call = Read(RequestOf("a", {"", "b"}));
  EXPECT_TRUE(call.has_several_queues);
  EXPECT_EQ(call.queue, "a");
  EXPECT_EQ(call.tasks[0].queue, "");
  EXPECT_EQ(call.tasks[1].queue, "b");
}

TEST(ReadEnqueue, SixtyFourQueuesFitACallAndOneMoreDoesNot) {
  std::vector<std::string> queues;
  for (int i = 0; i < 63; ++i) queues.push_back(absl::StrCat("q", i));
  queues.push_back("");
  EXPECT_TRUE(Read(RequestOf("default", queues)).has_several_queues);
  queues.insert(queues.end(), {"q1", "default", "q63"});
  EXPECT_EQ(FieldAtFault(RequestOf("default", queues)), "tasks[66].queue");
}

TEST(ReadEnqueue, NamesABadQueue) {
  EXPECT_EQ(FieldAtFault(RequestOf("", {})), "queue");
  EXPECT_EQ(FieldAtFault(RequestOf("", {""})), "queue");
  EXPECT_EQ(FieldAtFault(RequestOf("", {"a", ""})), "tasks[1].queue");
  EXPECT_EQ(FieldAtFault(RequestOf("", {"a", "no name!"})), "tasks[1].queue");
  EXPECT_EQ(FieldAtFault(RequestOf("no name!", {"a"})), "queue");
  EXPECT_EQ(FieldAtFault(RequestOf("", std::vector<std::string>(1001, "a"))), "tasks");
}

}  // namespace
}  // namespace skiplane::rpc
