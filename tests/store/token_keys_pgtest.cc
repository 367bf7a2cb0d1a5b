// The keys for lease tokens: made in the database, renewed when their time has come, and kept for
// as long as a lease may need them.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/store/peers.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::Required;

class TokenKeysTest : public testing::StoreHarness {
 protected:
  void SetUp() override {
    StoreHarness::SetUp();
    Sql("DELETE FROM skiplane.token_key");
  }

  // Those that sign are told with a `+`.
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (const model::TokenKey& key : Required(ListTokenKeys(*session_))) {
      keys.push_back(absl::StrCat(key.id, key.signs ? "+" : ""));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  void Rotate() { ASSERT_THAT(RotateTokenKeys(*session_, TokenKeyTimes()), IsOk()); }

  void Age(int key, const std::string& by) {
    Sql(absl::StrCat("UPDATE skiplane.token_key SET use_time = now() - interval '", by,
                     "' WHERE id = ", key));
  }
};

TEST_F(TokenKeysTest, TheFirstOneSignsAtOnceAndIsMadeOnce) {
  const std::vector<model::TokenKey> first = Required(OpenTokenKeys(*session_));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].secret.size(), 32u);
  EXPECT_EQ(Required(OpenTokenKeys(*session_))[0].secret, first[0].secret);
  EXPECT_THAT(Keys(), ElementsAre("1+"));
}

TEST_F(TokenKeysTest, TheNextOneIsMadeAfterADayAndSignsLater) {
  Required(OpenTokenKeys(*session_));
  Age(1, "23 hours 59 minutes");
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("1+"));
  Age(1, "24 hours 1 minute");
  Rotate();
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("1+", "2"));
  std::set<std::string> secrets;
  for (const model::TokenKey& key : Required(ListTokenKeys(*session_))) secrets.insert(key.secret);
  EXPECT_EQ(secrets.size(), 2u);
}

TEST_F(TokenKeysTest, AnOldOneGoesWhenAnotherHasSignedForTwoHoursAndNoLeaseIsFromBefore) {
  Required(OpenTokenKeys(*session_));
  Age(1, "26 hours");
  Rotate();
  Age(2, "1 hour 59 minutes");
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("1+", "2+"));
  Age(2, "3 hours");
  const std::string ledger = "INSERT INTO skiplane.lease_ledger (id, lane, sessions, tasks,"
                             " lease_numbers, check_time) SELECT gen_random_uuid(), 1,"
                             " ARRAY[gen_random_uuid()], ARRAY[1],"
                             " ARRAY[(date_part('epoch', now() - interval ";
  Sql(absl::StrCat(ledger, "'2 hours') * 1e6)::int8], now()"));  // before the other had signed long
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("1+", "2+"));
  Sql("DELETE FROM skiplane.lease_ledger");
  Sql(absl::StrCat(ledger, "'30 minutes') * 1e6)::int8], now()"));
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("2+"));
}

TEST_F(TokenKeysTest, TheNewestStaysWhateverItsAge) {
  Required(OpenTokenKeys(*session_));
  Age(1, "23 hours");
  Rotate();
  EXPECT_THAT(Keys(), ElementsAre("1+"));
}

}  // namespace
}  // namespace skiplane::store
