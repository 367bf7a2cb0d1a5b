#include "client/cli/live/top_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr ScreenSize kScreen{.width = 60, .height = 12};

// Queues q00, q01, … whose ready tasks grow.
Sight Queues(int count) {
  Sight sight;
  for (int i = 0; i < count; ++i) {
    v1::QueueSummary& queue = sight.queues.emplace_back();
    queue.set_queue(absl::StrCat("q", i < 10 ? "0" : "", i));
    queue.mutable_counts()->set_ready_count(i * 100);
  }
  return sight;
}

void AddWorkers(int count, Sight& sight) {
  for (int i = 0; i < count; ++i) sight.workers.emplace_back().set_name(absl::StrCat("w", i));
}

TEST(TopPageTest, ThePageFitsTheScreen) {
  Sight sight = Queues(50);
  AddWorkers(20, sight);
  TopPage page(std::nullopt);
  for (const ScreenSize size : {kScreen, ScreenSize{.width = 1, .height = 1},
                                ScreenSize{.width = 20, .height = 5},
                                ScreenSize{.width = 200, .height = 100}}) {
    const std::vector<std::string> lines = page.Render(sight, "host:1", size);
    EXPECT_EQ(lines.size(), size.height);
    for (const std::string& line : lines) EXPECT_LE(Utf8Length(line), size.width) << line;
  }
}

TEST(TopPageTest, TheFullestQueueIsFirst) {
  TopPage page(std::nullopt);
  const auto lines = page.Render(Queues(3), "host:1", kScreen);
  EXPECT_THAT(lines[1], StartsWith("3 queues: 300 ready, 0 leased, 0 failed; 0 workers"));
  EXPECT_THAT(lines[3], StartsWith("QUEUE"));
  EXPECT_THAT(lines[4], StartsWith("q02"));
}

TEST(TopPageTest, ALetterSortsAndOnceMoreTheOtherWay) {
  TopPage page(std::nullopt);
  const auto first = [&] { return page.Render(Queues(3), "host:1", kScreen)[4]; };
  EXPECT_TRUE(page.Press({.key = Key::kLetter, .letter = 'r'}));
  EXPECT_THAT(first(), StartsWith("q00"));
  EXPECT_TRUE(page.Press({.key = Key::kLetter, .letter = 'n'}));
  EXPECT_THAT(first(), StartsWith("q00"));
  EXPECT_TRUE(page.Press({.key = Key::kLetter, .letter = 'n'}));
  EXPECT_THAT(first(), StartsWith("q02"));
  EXPECT_TRUE(page.Press({.key = Key::kLetter, .letter = 'z'}));
  EXPECT_THAT(first(), StartsWith("q02"));
}

TEST(TopPageTest, KeysScrollWithinTheQueues) {
  TopPage page(Order{.path = "queue"});
  const auto first = [&] { return page.Render(Queues(50), "host:1", kScreen)[4]; };
  EXPECT_THAT(first(), StartsWith("q00"));
  page.Press({.key = Key::kUp});
  EXPECT_THAT(first(), StartsWith("q00"));
  page.Press({.key = Key::kDown});
  EXPECT_THAT(first(), StartsWith("q01"));
  page.Press({.key = Key::kPageDown});
  EXPECT_THAT(first(), StartsWith("q08"));
  page.Press({.key = Key::kEnd});
  EXPECT_THAT(first(), StartsWith("q43"));
  page.Press({.key = Key::kPageUp});
  EXPECT_THAT(first(), StartsWith("q36"));
}

TEST(TopPageTest, FailuresAreColouredWhenThatIsWanted) {
  Sight sight = Queues(1);
  sight.queues[0].mutable_counts()->set_failed_count(7);
  for (const bool is_colored : {true, false}) {
    TopPage page(std::nullopt, is_colored);
    const std::string line = page.Render(sight, "host:1", kScreen)[4];
    EXPECT_EQ(absl::StrContains(line, "\x1b[31m7\x1b[0m"), is_colored) << line;
  }
}

TEST(TopPageTest, QEnds) { EXPECT_FALSE(TopPage({}).Press({.key = Key::kLetter, .letter = 'q'})); }

TEST(TopPageTest, WorkersTakeAThirdAndTheOthersAreCounted) {
  Sight sight = Queues(50);
  AddWorkers(20, sight);
  TopPage page(std::nullopt);
  const auto lines = page.Render(sight, "host:1", kScreen);
  EXPECT_THAT(lines, testing::Contains(StartsWith("WORKER")));
  EXPECT_THAT(lines, testing::Contains("and 18 more: skiplane workers"));
}

TEST(TopPageTest, WhatWasSeenStaysWhileTheBrokerIsAway) {
  Sight sight = Queues(2);
  sight.status = absl::UnavailableError("no broker");
  const auto lines = TopPage({}).Render(sight, "host:1", {.width = 80, .height = 10});
  EXPECT_THAT(lines[0], HasSubstr("no broker; asking again"));
  EXPECT_THAT(lines[4], StartsWith("q01"));
}

}  // namespace
}  // namespace skiplane::cli
