#include "server/broker/sessions/session_cache.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

const model::SessionId kId{1, 2, 3};

TEST(SessionCacheTest, KnowsASessionThatLivesLongEnough) {
  SessionCache cache(10);
  cache.Learn("w", kId, std::chrono::steady_clock::now(), absl::Seconds(100));
  const auto found = cache.FindLiving("w", absl::Seconds(30));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, kId);
}

TEST(SessionCacheTest, DoesNotVouchForMoreThanWasSaid) {
  SessionCache cache(10);
  cache.Learn("w", kId, std::chrono::steady_clock::now(), absl::Seconds(30));
  EXPECT_FALSE(cache.FindLiving("w", absl::Seconds(30)).has_value());
}

TEST(SessionCacheTest, CountsFromTheMomentTheStatementWasSent) {
  SessionCache cache(10);
  const auto sent = std::chrono::steady_clock::now() - std::chrono::seconds(50);
  cache.Learn("w", kId, sent, absl::Seconds(60));
  EXPECT_FALSE(cache.FindLiving("w", absl::Seconds(30)).has_value());
}

TEST(SessionCacheTest, KnowsWhatItsWorkerWasAskedToDo) {
  SessionCache cache(10);
  const auto now = std::chrono::steady_clock::now();
  cache.Learn("w", kId, now, absl::Hours(1), model::WorkerCommand::kQuiet);
  EXPECT_EQ(cache.Find("w")->command, model::WorkerCommand::kQuiet);
  cache.Learn("w", kId, now, absl::Hours(1), model::WorkerCommand::kRun);
  EXPECT_EQ(cache.Find("w")->command, model::WorkerCommand::kRun);
}

TEST(SessionCacheTest, ForgetsOnDemandAndWhenFull) {
  SessionCache cache(1);
  const auto now = std::chrono::steady_clock::now();
  cache.Learn("a", kId, now, absl::Hours(1));
  cache.Learn("b", kId, now, absl::Hours(1));
  EXPECT_FALSE(cache.FindLiving("a", absl::Seconds(1)).has_value());
  EXPECT_TRUE(cache.FindLiving("b", absl::Seconds(1)).has_value());
  cache.Forget("b");
  EXPECT_FALSE(cache.FindLiving("b", absl::Seconds(1)).has_value());
}

}  // namespace
}  // namespace skiplane::broker
