#include "client/cli/input/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "CLI/CLI.hpp"
#include "client/cli/base/exit_code.h"
#include "client/cli/command/completion.h"

namespace skiplane::cli {
namespace {

using testing::HasSubstr;
using Arguments = std::vector<std::string>;

Plan PlanOf(const Arguments& arguments) {
  auto parsed = Parse(arguments);
  if (const auto* const exit = std::get_if<EarlyExit>(&parsed)) {
    ADD_FAILURE() << exit->text;
    return {};
  }
  return std::get<Plan>(std::move(parsed));
}

EarlyExit ExitOf(const Arguments& arguments) {
  auto parsed = Parse(arguments);
  if (const auto* const exit = std::get_if<EarlyExit>(&parsed)) return *exit;
  ADD_FAILURE() << "a plan";
  return {};
}

TEST(ParseTest, OptionsOfAllCommandsMayStandAnywhere) {
  const Plan plan = PlanOf({"--broker", "a:1", "queues", "list", "--json", "--actor", "ann"});
  EXPECT_EQ(plan.options.broker, "a:1");
  EXPECT_EQ(plan.options.actor, "ann");
  EXPECT_TRUE(plan.options.json);
  EXPECT_TRUE(plan.run);
}

TEST(ParseTest, WatchTakesItsSecondsAfterAnEqualsSign) {
  EXPECT_EQ(PlanOf({"queues", "show", "--watch", "mail"}).options.watch, absl::Seconds(2));
  EXPECT_EQ(PlanOf({"queues", "list", "--watch=0.5"}).options.watch, absl::Milliseconds(500));
  EXPECT_EQ(ExitOf({"queues", "list", "--watch=0"}).code, kUsage);
  EXPECT_EQ(ExitOf({"queues", "pause", "mail", "--watch"}).code, kUsage);
}

TEST(ParseTest, AQueueMayHaveTheNameOfACommand) {
  EXPECT_TRUE(PlanOf({"enqueue", "stats", "payload"}).run);
  EXPECT_TRUE(PlanOf({"queues", "show", "list"}).run);
}

TEST(ParseTest, TheCommandOfAWorkerIsLeftAlone) {
  const Plan plan = PlanOf({"work", "mail", "-c", "3", "--", "tail", "-n", "1", "--json", "[x]"});
  EXPECT_EQ(plan.rest, (Arguments{"tail", "-n", "1", "--json", "[x]"}));
  EXPECT_FALSE(plan.options.json);
  EXPECT_EQ(ExitOf({"queues", "list", "--", "x"}).code, kUsage);
}

TEST(ParseTest, TablesAreSortedAndDocumentsAreNot) {
  const auto parsed = Parse({"queues", "list", "--sort", "ready:desc", "--columns", "queue"});
  ASSERT_TRUE(std::holds_alternative<Plan>(parsed));
  EXPECT_EQ(std::get<Plan>(parsed).options.sort, "ready:desc");
  EXPECT_EQ(std::get<Plan>(parsed).options.columns, "queue");
  const auto refused = Parse({"queues", "list", "--json", "--sort", "ready"});
  ASSERT_TRUE(std::holds_alternative<EarlyExit>(refused));
  EXPECT_EQ(std::get<EarlyExit>(refused).code, kUsage);
}

TEST(ParseTest, ColoursAreTakenOrRefused) {
  for (const bool is_colored : {true, false}) {
    const auto parsed = Parse({"info", "--color", is_colored ? "always" : "never"});
    ASSERT_TRUE(std::holds_alternative<Plan>(parsed));
    EXPECT_EQ(std::get<Plan>(parsed).options.is_colored, is_colored);
  }
}

TEST(ParseTest, WrongUsageIsTold) {
  EXPECT_EQ(ExitOf({}).code, kUsage);
  EXPECT_EQ(ExitOf({"colour"}).code, kUsage);
  EXPECT_EQ(ExitOf({"queues"}).code, kUsage);
  EXPECT_EQ(ExitOf({"queues", "list", "--colour"}).code, kUsage);
  EXPECT_EQ(ExitOf({"enqueue", "mail", "x", "--key="}).code, kUsage);
  EXPECT_THAT(ExitOf({"tasks", "list", "mail", "--min-age", "5"}).text, HasSubstr("--min-age"));
}

// "A subcommand is required" was all that was said.
TEST(ParseTest, AWordThatIsNoCommandIsNamedWithThoseThatThereAre) {
  EXPECT_THAT(ExitOf({"queue", "list"}).text,
              HasSubstr("'queue' is no command of skiplane. There"));
  EXPECT_THAT(ExitOf({"queues", "erase", "x"}).text,
              HasSubstr("'erase' is no command of skiplane queues. There are: list, show"));
  EXPECT_THAT(ExitOf({"queues"}).text, HasSubstr("which command of skiplane queues?"));
  EXPECT_THAT(ExitOf({"queues", "pause"}).text, HasSubstr("QUEUE"));
}

// "--keep-results: 1 required yes|no missing" was all that was said.
TEST(ParseTest, AnOptionWithoutItsValueSaysWhatItNeeds) {
  EXPECT_THAT(ExitOf({"queues", "create", "x", "--keep-results"}).text,
              HasSubstr("skiplane: --keep-results needs yes or no\n"));
  EXPECT_THAT(ExitOf({"queues", "create", "x", "--max-attempts"}).text,
              HasSubstr("skiplane: --max-attempts needs a value (N)\n"));
  EXPECT_THAT(ExitOf({"queues", "list", "--broker"}).text,
              HasSubstr("skiplane: --broker needs a value (HOST:PORT)\n"));
}

TEST(ParseTest, EveryCommandHasAManual) {
  const EarlyExit all = ExitOf({"--help"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.text, HasSubstr("Exit codes:"));
  const EarlyExit one = ExitOf({"tasks", "cancel", "--help"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.text, HasSubstr("Usage: skiplane tasks cancel"));
  EXPECT_THAT(one.text, HasSubstr("--key-prefix"));
  EXPECT_THAT(one.text, HasSubstr("Examples:"));
  EXPECT_EQ(ExitOf({"--version"}).code, 0);
}

TEST(ParseTest, CompletionKnowsCommandsOptionsAndWhereQueuesStand) {
  CLI::App app;
  Plan plan;
  DeclareEverything(&app, &plan);
  const std::string bash = BashCompletion(app);
  EXPECT_THAT(bash, HasSubstr("'queues') words='list show create update pause resume delete "));
  EXPECT_THAT(bash, HasSubstr("--key-prefix"));
  EXPECT_THAT(bash, testing::ContainsRegex(
                        "'queues show'. words='[^']*' values='[^']*' queues=yes"));
  EXPECT_THAT(ZshCompletion(app), HasSubstr("bashcompinit"));
  const std::string fish = FishCompletion(app);
  EXPECT_THAT(fish, HasSubstr("-a 'list show create update pause resume delete "));
  EXPECT_THAT(fish, HasSubstr(" -l key-prefix -r -F\n"));
  EXPECT_THAT(fish, HasSubstr(" -l json\n")) << "which has no value";
}

}  // namespace
}  // namespace skiplane::cli
