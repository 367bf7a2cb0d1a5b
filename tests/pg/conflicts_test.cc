#include "server/pg/conflicts.h"

#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "server/pg/errors.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::ReasonIs;

absl::Status Failed(const char* sqlstate) { return ExplainSqlstate(sqlstate, {"s"}, "").status; }

TEST(ConflictsTest, WhatOthersBrokeOffIsTriedAgain) {
  for (const char* const sqlstate : {"40001", "40P01"}) {
    int tries = 0;
    const absl::StatusOr<int> answer = RepeatConflicts([&]() -> absl::StatusOr<int> {
      if (++tries < 4) return Failed(sqlstate);
      return 17;
    });
    EXPECT_THAT(answer, IsOkAndHolds(17)) << sqlstate;
    EXPECT_EQ(tries, 4) << sqlstate;
  }
}

TEST(ConflictsTest, ItIsNotTriedForEver) {
  int tries = 0;
  const absl::Status status = RepeatConflicts([&] {
    ++tries;
    return Failed("40001");
  });
  EXPECT_THAT(status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_EQ(tries, 11);
}

TEST(ConflictsTest, ALockThatSomebodyKeepsIsNotWaitedForAgain) {
  int tries = 0;
  const absl::Status status = RepeatConflicts([&] {
    ++tries;
    return Failed("55P03");
  });
  EXPECT_THAT(status, ReasonIs("TRANSACTION_CONFLICT"));
  EXPECT_EQ(tries, 1);
}

TEST(ConflictsTest, OtherRefusalsAreNoConflicts) {
  EXPECT_FALSE(IsConflict(absl::OkStatus()));
  EXPECT_FALSE(IsConflict(absl::AbortedError("without a reason")));
  EXPECT_FALSE(IsConflict(base::Refuse(absl::StatusCode::kAborted, "ETAG_MISMATCH", "")));
  EXPECT_FALSE(IsConflict(Failed("57014")));
}

}  // namespace
}  // namespace skiplane::pg
