// Looks, when all cases have run, whether each statement was among what they ran.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/sql/queries.h"
#include "tests/store/store_harness.h"

namespace skiplane::testing {
namespace {

class EveryStatementRuns : public ::testing::Environment {
 public:
  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*") return;
    const std::string page = StatementsRun().Text();
    for (const sql::Query* query : sql::kAll) {
      EXPECT_TRUE(absl::StrContains(page, absl::StrCat("{statement=\"", query->name, "\"}")))
          << "no test of the store runs " << query->name;
    }
  }
};

const ::testing::Environment* const kCoverage =
    ::testing::AddGlobalTestEnvironment(new EveryStatementRuns);

}  // namespace
}  // namespace skiplane::testing
