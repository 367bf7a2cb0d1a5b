// What a lease leaves behind: ledger rows, by which it is found again.
#include <thread>

#include "gmock/gmock.h"
#include "server/store/sessions.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::IdsOf;
using testing::IsOk;
using testing::kLedger;
using testing::kOtherLedger;
using testing::Required;
using testing::StatusIs;
using testing::TokensOf;
using testing::UuidOf;

class FindLeasesTest : public testing::StoreHarness {
 protected:
  // Callers 1 and 2 share a ledger row; 3 has its own, with a request id.
  LeaseDemand ThreeCallers() {
    LeaseDemand demand = Demand({1, 2, 3, 3});
    demand.callers[0].ledger = kLedger;
    demand.callers[1].ledger = kLedger;
    demand.callers[2].ledger = kOtherLedger;
    demand.callers[2].request_id = "worker/7";
    return demand;
  }

  std::vector<LeasedRow> Find(absl::Span<const absl::string_view> requests,
                              absl::Span<const pg::Uuid> ledgers) {
    return Required(FindLeases(*session_, lane_, requests, ledgers));
  }

  std::string Ledger(const std::string& column) const {
    return Sql(absl::StrCat("SELECT string_agg((", column,
                            ")::text, ' ' ORDER BY id) FROM skiplane.lease_ledger"));
  }
};

TEST_F(FindLeasesTest, ALedgerRowNamesWhatWasLeased) {
  const std::vector<int64_t> ids = Put(4);
  ASSERT_THAT(Lease(*session_, ThreeCallers()), IsOk());
  EXPECT_EQ(Ledger("SELECT array_agg(t ORDER BY t) FROM unnest(tasks) t"),
            absl::StrCat("{", ids[0], ",", ids[1], "} {", ids[2], ",", ids[3], "}"));
  EXPECT_EQ(Ledger("SELECT count(DISTINCT s) FROM unnest(sessions) s"), "2 1");
  EXPECT_EQ(Ledger("SELECT bool_and(k.lease_number = n) FROM unnest(tasks, lease_numbers) AS e(i, "
                   "n) "
                   "JOIN skiplane.task k ON k.id = i"),
            "true true");
  EXPECT_EQ(Ledger("coalesce(request_id, '-')"), "- worker/7");
}

TEST_F(FindLeasesTest, ByRequestIdAndByLedgerRow) {
  const std::vector<int64_t> ids = Put(4);
  const std::vector<LeasedRow> leased = Required(Lease(*session_, ThreeCallers())).rows;
  const std::vector<LeasedRow> by_request = Find({"worker/7", "worker/8"}, {});
  EXPECT_THAT(IdsOf(by_request), ElementsAre(ids[2], ids[3]));
  EXPECT_EQ(by_request[0].request_id, "worker/7");
  EXPECT_EQ(by_request[0].ledger, kOtherLedger);
  EXPECT_EQ(by_request[0].task.token, leased[2].task.token);
  EXPECT_THAT(IdsOf(Find({}, {{kLedger}})), ElementsAre(ids[0], ids[1]));
  EXPECT_THAT(TokensOf(Find({}, {{kLedger, kOtherLedger}})), ElementsAreArray(TokensOf(leased)));
  EXPECT_THAT(Find({}, {}), IsEmpty());
}

TEST_F(FindLeasesTest, ALeaseThatIsOverIsNotFound) {
  const std::vector<int64_t> ids = Put(4);
  const auto tokens = TokensOf(Required(Lease(*session_, ThreeCallers())).rows);
  Settle({tokens[2]}, Action::kAck);
  EXPECT_THAT(IdsOf(Find({"worker/7"}, {})), ElementsAre(ids[3]));
  Settle({tokens[0], tokens[3]}, Action::kRelease);
  EXPECT_THAT(Find({"worker/7"}, {}), IsEmpty());
  EXPECT_THAT(IdsOf(Take(2)), UnorderedElementsAre(ids[0], ids[3]));
  EXPECT_THAT(IdsOf(Find({"worker/7"}, {{kLedger}})), ElementsAre(ids[1])) << "leased anew";
}

TEST_F(FindLeasesTest, ARequestIdLeasesOnce) {
  Put(8);
  LeaseDemand demand = ThreeCallers();
  ASSERT_THAT(Lease(*session_, demand), IsOk());
  demand.callers[0].ledger = demand.callers[1].ledger = model::NewSessionId();
  demand.callers[2].ledger = model::NewSessionId();
  EXPECT_THAT(Lease(*session_, demand), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2"), 4);
}

TEST_F(FindLeasesTest, ARequestIdWhoseLeasesAreOverLeasesAnew) {
  Put(8);
  LeaseDemand demand = ThreeCallers();
  for (const Action action : {Action::kAck, Action::kRelease}) {
    const auto tokens = TokensOf(Required(Lease(*session_, demand)).rows);
    Settle(tokens, action);
    EXPECT_THAT(Required(FindRequest(*session_, lane_, {"worker/7"})), IsEmpty());
    EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger WHERE request_id IS NOT NULL"), 0);
    demand.callers[0].ledger = demand.callers[1].ledger = model::NewSessionId();
    demand.callers[2].ledger = model::NewSessionId();
  }
  EXPECT_THAT(Lease(*session_, demand), IsOk());
}

// Upkeep takes them back at any moment: a worker that was stopped for long once got them again.
TEST_F(FindLeasesTest, WhatASessionHeldThatIsLostOrEndedIsNotFoundAgain) {
  for (const char* state : {"2", "3, end_time = now(), check_time = now()"}) {
    Put(3);
    LeaseDemand demand = Demand({1});
    demand.callers[0].request_id = "worker/7";
    Required(TouchSessions(*session_, {{"w", "", UuidOf(1), absl::Hours(1), {}, {}}}));
    ASSERT_EQ(Required(Lease(*session_, demand)).rows.size(), 1u);
    ASSERT_EQ(Required(FindRequest(*session_, lane_, {"worker/7"})).size(), 1u);
    Sql(absl::StrCat("UPDATE skiplane.worker_session SET state = ", state));
    EXPECT_THAT(Required(FindRequest(*session_, lane_, {"worker/7"})), IsEmpty());
    demand.callers[0].ledger = model::NewSessionId();
    EXPECT_EQ(Required(Lease(*session_, demand)).rows.size(), 1u) << "the id leases anew";
    Sql("DELETE FROM skiplane.worker_session; DELETE FROM skiplane.lease_ledger");
  }
}

TEST_F(FindLeasesTest, ARequestIdThatStillHoldsSomethingStays) {
  const std::vector<int64_t> ids = Put(4);
  const auto tokens = TokensOf(Required(Lease(*session_, ThreeCallers())).rows);
  Settle({tokens[2]}, Action::kAck);
  EXPECT_THAT(IdsOf(Required(FindRequest(*session_, lane_, {"worker/7"}))), ElementsAre(ids[3]));
  EXPECT_THAT(Required(FindRequest(*session_, lane_, {"worker/8"})), IsEmpty());
  EXPECT_THAT(IdsOf(Find({"worker/7"}, {})), ElementsAre(ids[3]));
}

TEST_F(FindLeasesTest, AnIdIsKnownFromItsFirstLeaseUntilNothingIsLeftOfIt) {
  Put(8);
  EXPECT_THAT(Required(KnownRequests(*session_, lane_, {"worker/7", "worker/8"})), IsEmpty());
  const auto tokens = TokensOf(Required(Lease(*session_, ThreeCallers())).rows);
  const auto known = Required(KnownRequests(*session_, lane_, {"worker/8", "worker/7"}));
  EXPECT_THAT(known, ElementsAre("worker/7"));
  EXPECT_THAT(Required(KnownRequests(*session_, lane_ + 1, {"worker/7"})), IsEmpty());
  Settle(tokens, Action::kAck);
  EXPECT_EQ(Required(KnownRequests(*session_, lane_, {"worker/7"})).size(), 1u) << "until a look";
  Required(FindRequest(*session_, lane_, {"worker/7"}));
  EXPECT_THAT(Required(KnownRequests(*session_, lane_, {"worker/7"})), IsEmpty());
}

// Its look found nothing and waits for nobody; then another broker leased under the id.
TEST_F(FindLeasesTest, ALookThatComesLateLeavesTheNewLease) {
  Put(8);
  LeaseDemand demand = ThreeCallers();
  Settle(TokensOf(Required(Lease(*session_, demand)).rows), Action::kAck);
  const auto folding = Open();
  ASSERT_THAT(folding->RunText("BEGIN; SELECT FROM skiplane.lease_ledger FOR UPDATE"), IsOk());
  EXPECT_THAT(Required(FindRequest(*session_, lane_, {"worker/7"})), IsEmpty());
  ASSERT_THAT(folding->RunText("DELETE FROM skiplane.lease_ledger; COMMIT"), IsOk());
  demand.callers[0].ledger = demand.callers[1].ledger = model::NewSessionId();
  demand.callers[2].ledger = model::NewSessionId();
  ASSERT_THAT(Lease(*session_, demand), IsOk());
  EXPECT_EQ(Required(FindRequest(*session_, lane_, {"worker/7"})).size(), 2u);
}

TEST_F(FindLeasesTest, AClosedLedgerRowCanNotBeLeasedUnder) {
  Put(4);
  ASSERT_THAT(CloseLedger(*session_, lane_, {{kLedger}}), IsOk());
  EXPECT_THAT(Lease(*session_, ThreeCallers()), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2 OR attempt > 0"), 0);
  EXPECT_THAT(Find({"worker/7"}, {{kLedger, kOtherLedger}}), IsEmpty());
}

TEST_F(FindLeasesTest, ClosingWhatWasCommittedChangesNothing) {
  Put(4);
  ASSERT_THAT(Lease(*session_, ThreeCallers()), IsOk());
  ASSERT_THAT(CloseLedger(*session_, lane_, {{kLedger, kOtherLedger}}), IsOk());
  ASSERT_THAT(CloseLedger(*session_, lane_, {{kLedger, kOtherLedger}}), IsOk());
  EXPECT_EQ(Find({}, {{kLedger, kOtherLedger}}).size(), 4u);
}

TEST_F(FindLeasesTest, ClosingWaitsForAStatementUnderWay) {
  const std::vector<int64_t> ids = Put(4);
  const auto leasing = Open();
  ASSERT_THAT(leasing->RunText("BEGIN"), IsOk());
  ASSERT_THAT(Lease(*leasing, ThreeCallers()), IsOk());
  absl::Status closed;
  std::thread closer([&] { closed = CloseLedger(*session_, lane_, {{kLedger}}); });
  WaitUntilBlocked(*session_);
  ASSERT_THAT(leasing->RunText("COMMIT"), IsOk());
  closer.join();
  EXPECT_THAT(closed, IsOk());
  EXPECT_THAT(IdsOf(Find({}, {{kLedger}})), ElementsAre(ids[0], ids[1]));
}

}  // namespace
}  // namespace skiplane::store
