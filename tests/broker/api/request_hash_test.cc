#include "server/broker/api/request_hash.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

EnqueueCall Call(const std::string& payload) {
  EnqueueCall call;
  call.queue = "q";
  call.tasks.emplace_back();
  call.tasks.back().payload = payload;
  return call;
}

// A key's lane follows from this: another value would make a second task of a known key.
TEST(StableHashTest, NeverChanges) {
  EXPECT_EQ(StableHash("order-1"), 0x7976d3b5a3854e69u);
  EXPECT_EQ(StableHash(""), 0x8570e250fe4c2473u);
}

TEST(HashBodyTest, IgnoresTheRequestId) {
  EnqueueCall a = Call("x");
  EnqueueCall b = Call("x");
  b.request_id = "other";
  EXPECT_EQ(HashBody(a), HashBody(b));
}

TEST(HashBodyTest, SeesEveryField) {
  const std::string plain = HashBody(Call("x"));
  EnqueueCall call = Call("x");
  call.tasks[0].key = "k";
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.tasks[0].priority = 1;
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.tasks[0].delay = absl::Seconds(1);
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.tasks[0].headers = {{"a", "b"}};
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.tasks[0].max_attempts = 2;
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.queue = "r";
  EXPECT_NE(HashBody(call), plain);
  call = Call("x");
  call.has_several_queues = true;
  call.tasks[0].queue = "r";
  const std::string elsewhere = HashBody(call);
  EXPECT_NE(elsewhere, plain);
  call.tasks[0].queue = "s";
  EXPECT_NE(HashBody(call), elsewhere);
}

TEST(HashBodyTest, IsTheSameWhereverTheQueuesAreNamed) {
  const auto hash = [](const std::string& queue, const std::string& first,
                       const std::string& second) {
    EnqueueCall call = Call("x");
    call.tasks.push_back(call.tasks[0]);
    call.queue = queue;
    call.has_several_queues = true;
    call.tasks[0].queue = first;
    call.tasks[1].queue = second;
    return HashBody(call);
  };
  const std::string named = hash("", "a", "b");
  EXPECT_EQ(hash("a", "", "b"), named);
  EXPECT_EQ(hash("b", "a", ""), named);
  EXPECT_EQ(hash("unused", "a", "b"), named);
  EXPECT_NE(hash("", "b", "a"), named);
  EXPECT_NE(hash("b", "", "a"), named);
}

TEST(HashBodyTest, DoesNotMixUpNeighbouringFields) {
  EnqueueCall a = Call("ab");
  a.tasks[0].content_type = "c";
  EnqueueCall b = Call("a");
  b.tasks[0].content_type = "bc";
  EXPECT_NE(HashBody(a), HashBody(b));
}

}  // namespace
}  // namespace skiplane::broker
