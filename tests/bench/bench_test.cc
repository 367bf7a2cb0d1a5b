// What the benchmark computes from what it measured.
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "tests/bench/cpu.h"
#include "tests/bench/figures.h"
#include "tests/bench/latencies.h"
#include "tests/bench/load/flow.h"
#include "tests/bench/load/payload.h"
#include "tests/bench/load/request_id.h"
#include "tests/bench/options.h"

namespace skiplane::bench {
namespace {

using ::testing::HasSubstr;

TEST(LatenciesTest, APercentileIsTheLeastValueThatCoversItsShare) {
  Latencies latencies;
  for (int ms = 100; ms >= 1; --ms) latencies.Add(absl::Milliseconds(ms));
  EXPECT_DOUBLE_EQ(latencies.PercentileMs(0.5), 50);
  EXPECT_DOUBLE_EQ(latencies.PercentileMs(0.99), 99);
  EXPECT_DOUBLE_EQ(latencies.PercentileMs(1.0), 100);
}

TEST(LatenciesTest, NoValuesAreNoFailure) { EXPECT_EQ(Latencies().PercentileMs(0.5), 0); }

TEST(LatenciesTest, MergedValuesCountAll) {
  Latencies slow;
  slow.Add(absl::Seconds(1));
  Latencies latencies;
  latencies.Add(absl::Milliseconds(1));
  latencies.Merge(slow);
  EXPECT_DOUBLE_EQ(latencies.PercentileMs(1.0), 1000);
}

TEST(CpuTest, AProcessThatWorksUsesCpu) {
  const absl::Duration before = ProcessCpu(getpid());
  volatile uint64_t sum = 0;
  while (ProcessCpu(getpid()) == before) sum = sum + 1;
  EXPECT_GT(ProcessCpu(getpid()), before);
}

TEST(CpuTest, ATreeHoldsItsRootAndProcessesThatAreGoneUseNothing) {
  EXPECT_GE(TreeCpu(getpid()), ProcessCpu(getpid()) - absl::Milliseconds(10));
  EXPECT_EQ(ProcessCpu(-1), absl::ZeroDuration());
}

TEST(FiguresTest, CostsArePerTask) {
  Figures figures;
  figures.scenario = "s";
  figures.end = {.time = absl::Time() + absl::Seconds(2),
                 .tasks = 1000,
                 .client = absl::Milliseconds(3),
                 .broker = absl::Milliseconds(4),
                 .postgres = absl::Milliseconds(5),
                 .wal_bytes = 700'000};
  figures.latencies.Add(absl::Milliseconds(7));
  figures.parts = {{"ack", {}}};
  const std::string json = ToJson(figures);
  EXPECT_THAT(json, HasSubstr(R"("scenario": "s", "tasks_per_s": 500, "p50_ms": 7.000)"));
  EXPECT_THAT(json, HasSubstr(R"("client_us": 3.00, "broker_us": 4.00, "postgres_us": 5.00)"));
  EXPECT_THAT(json, HasSubstr(R"("wal_bytes": 700, "ack_p50_ms": 0.000)"));
}

TEST(FiguresTest, CpuIsInPercentOfOneCore) {
  Figures figures;
  figures.begin.broker = absl::Seconds(1);
  figures.end.broker = absl::Seconds(4);
  figures.end.time = figures.begin.time + absl::Seconds(2);
  EXPECT_DOUBLE_EQ(CpuPercent(figures, &Meters::broker), 150);
}

TEST(FiguresTest, AMeanRateIsOfTheSecondsThatThereAre) {
  EXPECT_DOUBLE_EQ(MeanRate({10, 20, 60}, 1, 3), 40);
  EXPECT_DOUBLE_EQ(MeanRate({10, 20, 60}, 2, 9), 60);
  EXPECT_DOUBLE_EQ(MeanRate({}, 0, 5), 0);
}

TEST(PayloadTest, AWorkerReadsWhatWasMade) {
  const absl::Time begin = absl::FromUnixNanos(1'700'000'000'123'456'789);
  const std::string text = NewPayload(begin);
  EXPECT_EQ(text.size(), 200);
  const std::optional<Payload> payload = ReadPayload(text);
  ASSERT_TRUE(payload.has_value());
  EXPECT_EQ(payload->begin, begin);
  EXPECT_EQ(ReadPayload(NewPayload())->number, payload->number + 1);
}

TEST(PayloadTest, OtherSizesAndJsonAreReadAsWell) {
  for (const PayloadShape& shape :
       {PayloadShape{32}, PayloadShape{2001}, PayloadShape{999, true}}) {
    SetPayloadShape(shape);
    const std::string text = NewPayload();
    EXPECT_EQ(text.size(), shape.bytes);
    EXPECT_TRUE(ReadPayload(text).has_value());
    EXPECT_EQ(text.find("\"order_id\"") != std::string::npos, shape.json);
  }
  SetPayloadShape({});
  EXPECT_EQ(NewPayload().size(), 200U);
}

TEST(PayloadTest, EachByteCounts) {
  const std::string text = NewPayload();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(ReadPayload(other).has_value()) << i;
  }
  EXPECT_FALSE(ReadPayload(text.substr(1)).has_value());
  EXPECT_FALSE(ReadPayload("").has_value());
}

TEST(RequestIdTest, NoTwoAreAlike) {
  EXPECT_EQ(NewRequestId().size(), 32);
  EXPECT_NE(NewRequestId(), NewRequestId());
}

using Turns = std::vector<std::optional<absl::Time>>;

Flow::Begin AddTo(Turns& turns) {
  return [&turns](std::optional<absl::Time> begin) { turns.push_back(begin); };
}

TEST(FlowTest, ProducersPauseWhileEnoughTasksWait) {
  Flow flow(/*waiting_most=*/150);
  Turns turns;
  for (int i = 0; i < 3; ++i) flow.Turn(100, AddTo(turns));
  EXPECT_EQ(turns.size(), 2);  // 0 and 100 waited
  flow.Took(50);
  EXPECT_EQ(turns.size(), 2);
  flow.Took(1);
  EXPECT_EQ(turns.size(), 3);
}

TEST(FlowTest, WhoWaitsForATurnHearsThatItIsOver) {
  Flow flow(/*waiting_most=*/1);
  Turns turns;
  flow.Turn(1, AddTo(turns));
  flow.Turn(1, AddTo(turns));
  EXPECT_EQ(turns.size(), 1);
  flow.Stop();
  ASSERT_EQ(turns.size(), 2);
  EXPECT_FALSE(turns[1].has_value());
  EXPECT_FALSE(flow.WaitForTurn(1).has_value());
}

TEST(FlowTest, PlannedTimesDoNotDependOnWhenProducersAreFree) {
  const absl::Duration interval = absl::Microseconds(50);
  Flow flow(interval);
  const std::optional<absl::Time> first = flow.WaitForTurn(1);
  ASSERT_TRUE(first.has_value());
  for (int i = 1; i < 100; ++i) EXPECT_EQ(flow.WaitForTurn(1), *first + i * interval);
}

TEST(OptionsTest, FlagsAreTakenAndOthersRefused) {
  const auto options = ParseOptions({"--only", "a", "--only", "b", "--seconds", "7"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->only, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options->seconds, absl::Seconds(7));
  EXPECT_TRUE(ParseOptions({"--quick"})->is_quick);
  EXPECT_FALSE(ParseOptions({"--no-packing"})->packing);
  EXPECT_TRUE(ParseOptions({})->packing);
  EXPECT_EQ(ParseOptions({"--payload-bytes", "2000"})->payload.bytes, 2000U);
  EXPECT_FALSE(ParseOptions({"--payload-bytes", "31"}).has_value());
  EXPECT_EQ(ParseOptions({"--batch-tasks", "16"})->batch_tasks, 16);
  EXPECT_FALSE(ParseOptions({"--batch-tasks", "0"}).has_value());
  EXPECT_FALSE(ParseOptions({"--batch-tasks", "1001"}).has_value());
  EXPECT_TRUE(ParseOptions({"--json-payloads"})->payload.json);
  EXPECT_TRUE(ParseOptions({})->enqueue_ids && ParseOptions({})->lease_ids);
  EXPECT_TRUE(ParseOptions({"--enqueue-ids"})->enqueue_ids);
  EXPECT_FALSE(ParseOptions({"--enqueue-ids"})->lease_ids);
  EXPECT_FALSE(ParseOptions({"--no-request-ids"})->enqueue_ids);
  EXPECT_FALSE(ParseOptions({"--seconds", "0"}).has_value());
  EXPECT_FALSE(ParseOptions({"--only"}).has_value());
  EXPECT_FALSE(ParseOptions({"--what"}).has_value());
}

TEST(OptionsTest, EveryFlagOfTheHelpIsUnderstood) {
  std::ifstream file(SKIPLANE_BENCH_HELP);
  std::string word;
  int flags = 0;
  while (file >> word) {
    if (!absl::StartsWith(word, "--") || word == "--list") continue;
    EXPECT_TRUE(ParseOptions({word}).has_value() || ParseOptions({word, "32"}).has_value()) << word;
    ++flags;
  }
  EXPECT_GT(flags, 3);
}

}  // namespace
}  // namespace skiplane::bench
