#include "server/broker/await/peer_awaits.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr base::SteadyTime kStart{std::chrono::hours(1)};

TEST(PeerAwaitsTest, GivesThoseThatAreAwaitedOnce) {
  PeerAwaits awaits;
  awaits.Add(1, {7, 8}, kStart);
  awaits.Add(2, {9}, kStart);
  EXPECT_THAT(awaits.Take(1, {6, 7, 9}), ElementsAre(7));
  EXPECT_THAT(awaits.Take(1, {7}), IsEmpty());
  EXPECT_THAT(awaits.Take(2, {8, 9}), ElementsAre(9));
  EXPECT_THAT(awaits.Take(1, {8}), ElementsAre(8));
}

TEST(PeerAwaitsTest, KeepsThemAsLongAsACallMayWait) {
  PeerAwaits awaits;
  awaits.Add(1, {7}, kStart);
  awaits.Add(1, {8}, kStart + absl::ToChronoSeconds(model::kWaitMax));
  EXPECT_THAT(awaits.Take(1, {7, 8}), ElementsAre(7, 8));
}

TEST(PeerAwaitsTest, ForgetsWhatIsOlder) {
  PeerAwaits awaits;
  const std::chrono::seconds turn =
      absl::ToChronoSeconds(model::kWaitMax) + std::chrono::seconds(1);
  awaits.Add(1, {7}, kStart);
  awaits.Add(1, {8}, kStart + turn);
  awaits.Add(1, {9}, kStart + 2 * turn);
  EXPECT_THAT(awaits.Take(1, {7, 8, 9}), ElementsAre(8, 9));
}

TEST(PeerAwaitsTest, KeepsNoMoreThanItMay) {
  PeerAwaits awaits(2);
  awaits.Add(1, {7, 8, 9}, kStart);
  EXPECT_THAT(awaits.Take(1, {7, 8, 9}), ElementsAre(7, 8));
}

}  // namespace
}  // namespace skiplane::broker
