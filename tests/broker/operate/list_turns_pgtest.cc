// Lists that take long hold up other lists, and no other call.
#include <vector>

#include "gmock/gmock.h"
#include "server/broker/operate/list_turns.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using Page = model::Page<model::AuditRecord>;

class ListTurnsTest : public BrokerHarness {
 protected:
  // More than there are connections.
  std::vector<Later<Page>> AskForTen() {
    std::vector<Later<Page>> lists(10);
    for (Later<Page>& list : lists) broker().AsOperator().ListAudit(ListAll(), list.done());
    return lists;
  }

  static broker::ListAuditCall ListAll() {
    broker::ListAuditCall call;
    call.limit = 10;
    return call;
  }
};

TEST_F(ListTurnsTest, OtherCallsGoOnWhileListsWait) {
  Enqueue({Payload("makes the queue")});
  auto lock = Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
  Required(lock->RunText("BEGIN; LOCK TABLE skiplane.audit"));
  std::vector<Later<Page>> lists = AskForTen();
  EXPECT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  for (Later<Page>& list : lists) EXPECT_FALSE(list.is_there());
  Required(lock->RunText("COMMIT"));
  for (Later<Page>& list : lists) EXPECT_THAT(list.Get(), IsOk());
}

TEST(ListTurnsWithoutDatabaseTest, ListsThatWaitAreRefusedWithTheOneThatCannotBeMade) {
  pg::Pool pool({.uri = "postgresql://127.0.0.1:1/nowhere"}, 2, nullptr, [](bool) {});
  broker::ListTurns turns(pool, 2);
  std::vector<Later<int>> lists(1000);
  for (Later<int>& list : lists) {
    turns.Submit([done = list.done()](absl::StatusOr<pg::Session*> session) mutable {
      done(session.ok() ? absl::StatusOr<int>(1) : session.status());
    });
  }
  for (Later<int>& list : lists) EXPECT_FALSE(list.Get().ok());
  pool.Stop();
}

}  // namespace
}  // namespace skiplane::testing
