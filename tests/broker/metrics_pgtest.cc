// What a broker's metrics say of what it did, and of what is in the database.
#include <chrono>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"
#include "tests/metrics/page.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

class BrokerMetricsTest : public BrokerHarness {
 protected:
  std::optional<double> Value(const metrics::Metrics& metrics, const std::string& series) const {
    return metrics::ParsePage(metrics.Text()).Value(series);
  }
  std::optional<double> Runs() const {
    return Value(metrics_, "skiplane_task_run_seconds_count{queue=\"q\"}");
  }
  model::NackItem NackOf(const model::LeaseToken& token, model::NackDisposition disposition) {
    model::NackItem item;
    item.token = token;
    item.disposition = disposition;
    return item;
  }
  // Ends the test program if it does not come true.
  static void Await(const std::string& what, absl::FunctionRef<bool()> is_true) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!is_true()) {
      Require(std::chrono::steady_clock::now() < end, what + ": not within a minute");
      std::this_thread::yield();
    }
  }
  void AwaitValue(const std::string& series, double value) const {
    Await(absl::StrCat(series, " ", value), [&] { return Value(metrics_, series) == value; });
  }
};

TEST_F(BrokerMetricsTest, EveryAttemptThatItsWorkerSettledTellsHowLongItRan) {
  Enqueue({Payload("x"), Payload("y"), Payload("z")});
  const model::LeaseToken acked = LeaseOne("w").token;
  EXPECT_EQ(Runs(), std::nullopt);
  const absl::Time leased = absl::FromUnixMicros(acked.lease_number);
  Ack(acked);
  EXPECT_EQ(Runs(), 1);
  const double ran = Value(metrics_, "skiplane_task_run_seconds_sum{queue=\"q\"}").value_or(-1);
  EXPECT_GE(ran, 0);
  const int64_t now = Number("SELECT (date_part('epoch', now()) * 1e6)::int8");
  EXPECT_LE(ran, absl::ToDoubleSeconds(absl::FromUnixMicros(now) - leased));
  Ack(acked);
  EXPECT_EQ(Runs(), 1) << "a repeat is no second attempt";
  Nack(NackOf(LeaseOne("w").token, model::NackDisposition::kFail));
  EXPECT_EQ(Runs(), 2);
  Nack(NackOf(LeaseOne("w").token, model::NackDisposition::kRelease));
  EXPECT_EQ(Runs(), 2) << "what was not begun has no run time";
}

TEST_F(BrokerMetricsTest, ABrokerThatComesShowsWhatIsThere) {
  broker::CreateQueueCall call;
  call.name = "q";
  call.settings.emplace();
  for (const char* const stage : {"fetch", "send"}) {
    call.settings->stages.emplace_back().name = stage;
  }
  Later<model::Queue> made;
  broker().CreateQueue(call, made.done());
  ASSERT_THAT(made.Get(), IsOk());
  Enqueue({Payload("a"), Payload("b"), Payload("c")});
  Nack(NackOf(LeaseOne("w").token, model::NackDisposition::kFail));
  const model::LeaseToken held = LeaseOne("w").token;
  broker_ = NewBroker();
  AwaitValue("skiplane_queue_failed_tasks{queue=\"q\"}", 1);
  AwaitValue("skiplane_queue_stage_tasks{queue=\"q\",stage=\"fetch\",state=\"ready\"}", 1);
  AwaitValue("skiplane_queue_stage_tasks{queue=\"q\",stage=\"fetch\",state=\"leased\"}", 1);
  AwaitValue("skiplane_queue_stage_tasks{queue=\"q\",stage=\"send\",state=\"ready\"}", 0);
  const auto age = Value(metrics_, "skiplane_queue_oldest_attempt_age_seconds{queue=\"q\"}");
  EXPECT_GT(age, 0);
  EXPECT_GT(Value(metrics_, "skiplane_db_table_bytes{part=\"rows\",table=\"task\"}"), 0);
  EXPECT_GT(Value(metrics_, "skiplane_db_table_bytes{part=\"indexes\",table=\"history\"}"), 0);
  EXPECT_GT(Value(metrics_, "skiplane_db_bytes"), 1 << 20);
  Ack(held);
}

TEST_F(BrokerMetricsTest, TheQueuesThatWorkAreNamedAgainAfterARestart) {
  Sql(absl::StrCat(
      "INSERT INTO skiplane.queue (name, settings) SELECT 'a' || i, '{}' FROM generate_series(1, ",
      metrics::kQueuesMax, ") i; "
      "INSERT INTO skiplane.queue (name, settings) VALUES ('zz-busy', '{}'); "
      "INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue "
      "WHERE name <> 'q'; "
      "INSERT INTO skiplane.counter SELECT l.lane, 0, 0, 0, 0, 9, 0, 0, 0 "
      "FROM skiplane.queue_lane l JOIN skiplane.queue q ON q.id = l.queue_id "
      "WHERE q.name = 'zz-busy'"));
  for (const bool is_pinned : {false, true}) {
    metrics::Metrics metrics("test", "test");
    if (is_pinned) metrics.PinQueues({"a99?"});
    broker::BrokerOptions options;
    options.connect.uri = database_.uri();
    broker::LocalBroker broker(options, metrics, [](bool) {});
    const auto is_named = [&](const std::string& queue) {
      const std::string labels = absl::StrCat("{mode=\"lease\",queue=\"", queue, "\"}");
      return Value(metrics, "skiplane_queue_paused" + labels).has_value();
    };
    // They come one by one, in no order, and are ranked once all are known.
    Await("all names, ranked", [&] {
      const metrics::Page page = metrics::ParsePage(metrics.Text());
      const bool is_last_named = is_named("a999");  // of those that never worked
      const bool is_last_beside_pinned_named = is_named("a99");
      return page.CountOf("skiplane_queue_paused{mode=\"lease\"") == metrics::kQueuesMax + 1 &&
             is_named("zz-busy") && is_named("__other__") && is_last_named == is_pinned &&
             is_last_beside_pinned_named != is_pinned;
    });
    broker.Stop();
  }
}

}  // namespace
}  // namespace skiplane::testing
