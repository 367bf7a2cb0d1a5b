#include <future>

#include "server/broker/lease/lost_leases.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using LostLeasesPgTest = BrokerHarness;

// The statement may never have been run, so this says nothing of the lane. The caller was once told
// that there is nothing.
TEST_F(LostLeasesPgTest, WithoutRowsTheCallerIsToldToRepeat) {
  base::Timer timer;
  pg::Pool pool({.uri = database_.uri()}, 1, nullptr, [](bool) {});
  broker::Context context{pool, timer, metrics_, "origin"};
  std::promise<absl::Status> told;
  broker::LostLeases lost(
      context, [&](broker::LeaseRun&, const absl::StatusOr<store::Leased>& leased) {
        told.set_value(leased.status());
      });
  broker::LeaseRun run;
  run.lane_stage = {1, 0};
  run.demand.lane = 1;
  run.demand.callers.emplace_back().ledger[0] = 7;
  run.lives_until.emplace_back();
  lost.Resolve(std::move(run));
  std::future<absl::Status> answer = told.get_future();
  ASSERT_EQ(answer.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_EQ(answer.get().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger WHERE lane = 1"), 1)
      << "it can never be run from now on";
  timer.Stop();
  pool.Stop();
}

}  // namespace
}  // namespace skiplane::testing
