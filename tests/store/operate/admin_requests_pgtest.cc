#include "server/store/admin_requests.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/pg/transaction.h"
#include "server/store/retention.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;

const model::RequestHash kRequest{"id", "body"};

class AdminRequestsTest : public testing::StoreHarness {
 protected:
  // Claimed beside an open transaction that has the id; ends with that one.
  bool ClaimBeside(pg::Session& open, const char* how_it_ends) {
    absl::StatusOr<bool> is_first;
    std::thread claiming([&] { is_first = ClaimAdminRequest(*session_, kRequest); });
    WaitUntilBlocked(*session_);
    Required(open.RunText(how_it_ends));
    claiming.join();
    return Required(is_first);
  }
};

TEST_F(AdminRequestsTest, AnIdIsTheFirstCallersOnly) {
  EXPECT_EQ(Required(GetAdminRequest(*session_, kRequest)), std::nullopt);
  EXPECT_THAT(ClaimAdminRequest(*session_, kRequest), IsOkAndHolds(true));
  EXPECT_THAT(NoteOutcome(*session_, kRequest, "done"), IsOk());
  EXPECT_THAT(ClaimAdminRequest(*session_, {"id", "other"}), IsOkAndHolds(false));
  const auto known = Required(GetAdminRequest(*session_, kRequest));
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->body_hash, "body");
  EXPECT_EQ(known->outcome, "done");
}

TEST_F(AdminRequestsTest, WhoHasAnIdIsWaitedFor) {
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  EXPECT_THAT(ClaimAdminRequest(*other, kRequest), IsOkAndHolds(true));
  EXPECT_THAT(NoteOutcome(*other, kRequest, "of the other"), IsOk());
  EXPECT_FALSE(ClaimBeside(*other, "COMMIT"));
  EXPECT_EQ(Required(GetAdminRequest(*session_, kRequest))->outcome, "of the other");
}

TEST_F(AdminRequestsTest, AnIdOfAChangeThatFailedIsFree) {
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  EXPECT_THAT(ClaimAdminRequest(*other, kRequest), IsOkAndHolds(true));
  EXPECT_TRUE(ClaimBeside(*other, "ROLLBACK"));
}

TEST_F(AdminRequestsTest, OldOnesGoInSteps) {
  const auto make = [this](int count, const char* age) {
    Sql(absl::StrCat("INSERT INTO skiplane.admin_request SELECT convert_to('", age,
                     "' || i, 'UTF8'), '', '', now() - interval '", age,
                     "' FROM generate_series(1, ", count, ") i"));
  };
  make(5, "25 hours");
  make(3, "23 hours");
  EXPECT_THAT(ExpireAdminRequests(*session_, absl::Hours(24), 4), IsOkAndHolds(4));
  EXPECT_THAT(ExpireAdminRequests(*session_, absl::Hours(24), 4), IsOkAndHolds(1));
  EXPECT_THAT(ExpireAdminRequests(*session_, absl::Hours(24), 4), IsOkAndHolds(0));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.admin_request"), 3);
}

}  // namespace
}  // namespace skiplane::store
