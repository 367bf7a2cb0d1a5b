#include <algorithm>
#include <future>

#include "absl/strings/escaping.h"
#include "server/broker/lease/lost_leases.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

class LostLeasesPgTest : public BrokerHarness {
 protected:
  // What is found of a statement for callers of lane 1, who were dealt these slots.
  absl::StatusOr<store::Leased> Find(const std::vector<store::LeaseCaller>& callers,
                                     const std::vector<int32_t>& slots = {1}) {
    base::Timer timer;
    pg::Pool pool({.uri = database_.uri()}, 1, nullptr, [](bool) {});
    broker::PoolTurns turns(pool, 1);
    broker::Context context{pool, turns, timer, metrics_, "origin"};
    std::promise<absl::StatusOr<store::Leased>> found;
    broker::LostLeases lost(context,
                            [&](broker::LeaseRun&, absl::StatusOr<store::Leased> leased) {
                              found.set_value(std::move(leased));
                            });
    broker::LeaseRun run;
    run.lane_stage = {1, 0};
    run.demand.lane = 1;
    run.demand.slots = slots;
    run.demand.callers = callers;
    for (size_t i = 0; i < callers.size(); ++i) {
      run.tickets.push_back(std::make_shared<broker::Ticket>());
    }
    run.lives_until.resize(callers.size());
    lost.Resolve(std::move(run));
    std::future<absl::StatusOr<store::Leased>> answer = found.get_future();
    const bool is_told = answer.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
    timer.Stop();
    pool.Stop();
    return is_told ? answer.get() : absl::DeadlineExceededError("no answer within a minute");
  }

  // The id of the only ledger row.
  pg::Uuid Ledger() const {
    const std::string bytes = absl::HexStringToBytes(
        Sql("SELECT replace(id::text, '-', '') FROM skiplane.lease_ledger"));
    pg::Uuid ledger{};
    std::copy_n(bytes.begin(), ledger.size(), ledger.begin());
    return ledger;
  }
};

// The statement may never have been run, so this says nothing of the lane. The caller was once told
// that there is nothing.
TEST_F(LostLeasesPgTest, WithoutRowsTheCallerIsToldToRepeat) {
  store::LeaseCaller caller;
  caller.ledger[0] = 7;
  EXPECT_EQ(Find({caller}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger WHERE lane = 1"), 1)
      << "it can never be run from now on";
}

// Slots of a worker whose session had ended are nobody's. They were once counted before the first
// caller, in memory of others.
TEST_F(LostLeasesPgTest, WhatWasDealtToNobodyIsLeftOut) {
  Enqueue({Payload("a")});
  store::LeaseCaller caller;
  caller.session = LeaseOne("w").token.session;
  caller.ledger = Ledger();
  const absl::StatusOr<store::Leased> found = Find({caller}, {0, 1, 0});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->rows.size(), 1u);
}

// Each of the two tasks was once found for both callers, as they share a row of the ledger: one got
// the same task twice, or two got the same.
TEST_F(LostLeasesPgTest, WhatCallersShareIsFoundOnce) {
  Enqueue({Payload("a"), Payload("b")});
  store::LeaseCaller caller;
  caller.session = Lease(LeaseOf("w", 2)).tasks.front().token.session;
  caller.ledger = Ledger();
  const absl::StatusOr<store::Leased> found = Find({caller, caller}, {1, 2});
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->rows.size(), 2u);
  EXPECT_NE(found->rows[0].caller, found->rows[1].caller);
  EXPECT_NE(found->rows[0].task.token.task, found->rows[1].task.token.task);
}

// The time of the metrics was once the greatest schedule time: no task seemed to have waited.
TEST_F(LostLeasesPgTest, TheTimeOfWhatIsFoundIsThatOfItsLease) {
  model::NewTask late = Payload("late");
  late.schedule_time = absl::Now() - absl::Hours(1);
  Enqueue({late});
  store::LeaseCaller caller;
  caller.session = LeaseOne("w").token.session;
  caller.ledger = Ledger();
  const absl::StatusOr<store::Leased> found = Find({caller});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->rows.size(), 1u);
  EXPECT_EQ(absl::ToUnixMicros(found->now),
            Number("SELECT (date_part('epoch', lease_time) * 1e6)::int8 FROM skiplane.task"));
}

}  // namespace
}  // namespace skiplane::testing
