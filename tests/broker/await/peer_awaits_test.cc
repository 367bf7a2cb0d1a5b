#include "server/broker/await/peer_awaits.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::SteadyTime kStart{std::chrono::hours(1)};

class PeerAwaitsTest : public ::testing::Test {
 protected:
  const base::SteadyTime::duration turn_ =
      absl::ToChronoSeconds(2 * model::kWaitMax) + std::chrono::seconds(1);

  metrics::Metrics metrics_{"test", "test"};
  PeerAwaits awaits_{metrics_};
};

TEST_F(PeerAwaitsTest, GivesThoseThatAreAwaitedOnce) {
  awaits_.Add(1, {7, 8}, kStart);
  awaits_.Add(2, {9}, kStart);
  EXPECT_THAT(awaits_.Take(1, {6, 7, 9}), ElementsAre(7));
  EXPECT_THAT(awaits_.Take(1, {7}), IsEmpty());
  EXPECT_THAT(awaits_.Take(2, {8, 9}), ElementsAre(9));
  EXPECT_THAT(awaits_.Take(1, {8}), ElementsAre(8));
}

// Each was told of just before a turn, and a call came just before it would be told of again.
TEST_F(PeerAwaitsTest, KeepsThemUntilTheLastCallThatWasNotToldOfHasItsAnswer) {
  awaits_.Add(1, {6}, kStart);
  awaits_.Add(1, {7}, kStart + turn_ - std::chrono::seconds(1));
  awaits_.Add(1, {8}, kStart + turn_);
  const base::SteadyTime answered =
      kStart + turn_ + absl::ToChronoSeconds(2 * model::kWaitMax) - std::chrono::seconds(1);
  awaits_.Add(1, {9}, answered);
  EXPECT_THAT(awaits_.Take(1, {7, 8, 9}), ElementsAre(7, 8, 9));
}

TEST_F(PeerAwaitsTest, ForgetsWhatIsOlder) {
  awaits_.Add(1, {7}, kStart);
  awaits_.Add(1, {8}, kStart + turn_);
  awaits_.Add(1, {9}, kStart + 2 * turn_);
  EXPECT_THAT(awaits_.Take(1, {7, 8, 9}), ElementsAre(8, 9));
}

TEST_F(PeerAwaitsTest, KeepsNoMoreThanItMay) {
  PeerAwaits awaits(metrics_, 2);
  awaits.Add(1, {7, 8, 9}, kStart);
  EXPECT_THAT(awaits.Take(1, {7, 8, 9}), ElementsAre(7, 8));
}

}  // namespace
}  // namespace skiplane::broker
