#include "server/rpc/call/list_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/reason.h"
#include "skiplane/v1/admin.pb.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {
namespace {

using Parts = std::vector<std::string>;

bool IsRefused(const absl::Status& status, const std::string& field = "page_token") {
  return base::ReasonOf(status) == "INVALID_FIELD" && base::FieldOf(status) == field;
}

TEST(ListToken, ReturnsThePartsItWasMadeOf) {
  for (const Parts& parts : {Parts{}, Parts{""}, Parts{"17", "x.y"}, Parts{"", "", ""},
                             Parts{std::string("\0\xff.", 3), std::string(300, 'z')}}) {
    const auto read = ReadListToken(WriteListToken(parts, "scope"), "scope", parts.size());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, parts);
  }
}

TEST(ListToken, NeedsNoEscapingInAUrl) {
  for (int c = 0; c < 256; ++c) {
    EXPECT_THAT(WriteListToken({std::string(5, static_cast<char>(c))}, "s"),
                ::testing::MatchesRegex("[A-Za-z0-9_.-]+"));
  }
}

TEST(ListToken, RefusesEveryChangedCharacter) {
  const std::string good = WriteListToken({"17", "order-5"}, "scope");
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'A', '0', '.', '='}) {
      if (good[i] == c) continue;
      std::string forged = good;
      forged[i] = c;
      EXPECT_TRUE(IsRefused(ReadListToken(forged, "scope", 2).status())) << forged;
    }
  }
}

TEST(ListToken, RefusesWhatIsCutOrMadeUpOrOfAnotherList) {
  const std::string good = WriteListToken({"17", "5"}, "scope");
  for (const std::string& forged :
       {std::string(), std::string("."), std::string("2.MTc.NQ"), good.substr(1), good + "0",
        good.substr(0, good.size() - 1), " " + good, "2." + good}) {
    EXPECT_TRUE(IsRefused(ReadListToken(forged, "scope", 2).status())) << forged;
  }
  EXPECT_TRUE(IsRefused(ReadListToken(good, "other", 2).status()));
  EXPECT_TRUE(IsRefused(ReadListToken(good, "scope", 1).status()));
  EXPECT_TRUE(IsRefused(ReadListToken(good, "scope", 3).status()));
}

// With their checksums right, by an independent implementation of CRC-32.
TEST(ListToken, RefusesOtherSpellingsOfTheSameParts) {
  ASSERT_EQ(WriteListToken({"5"}, "scope").substr(0, 5), "2.NQ.");
  for (const char* token : {"2.NQ==.721429b0", "2.NR.99cd8988", "2. NQ.29a276ac"}) {
    EXPECT_TRUE(IsRefused(ReadListToken(token, "scope", 1).status())) << token;
  }
}

TEST(ListToken, IsGoodForTheSameRequestOnOtherPagesOnly) {
  v1::ListTasksRequest request;
  request.mutable_filter()->set_queue("mail");
  const std::string scope = TokenScope(request);
  request.set_page_size(7);
  request.set_page_token("x");
  EXPECT_EQ(TokenScope(request), scope);
  request.mutable_filter()->set_key_prefix("a");
  EXPECT_NE(TokenScope(request), scope);
  // Without any field but of another type.
  EXPECT_NE(TokenScope(v1::ListWorkersRequest()), TokenScope(v1::ListBulkOperationsRequest()));
}

// A token was once good for every request with the same bytes in another order.
TEST(ListToken, ARequestWithTheSameBytesInAnotherOrderIsAnother) {
  v1::ListTasksRequest first, second;
  first.mutable_filter()->set_key_prefix("ab");
  second.mutable_filter()->set_key_prefix("ba");
  const std::string token = WriteListToken({"1"}, TokenScope(first));
  EXPECT_TRUE(ReadListToken(token, TokenScope(first), 1).ok());
  EXPECT_FALSE(ReadListToken(token, TokenScope(second), 1).ok());
}

TEST(ListToken, TheOrderOfAMapsEntriesMakesNoDifference) {
  v1::NewTask first, second;
  for (int i = 0; i < 100; ++i) (*first.mutable_headers())[std::to_string(i)] = "v";
  for (int i = 99; i >= 0; --i) (*second.mutable_headers())[std::to_string(i)] = "v";
  EXPECT_EQ(SortedBytes(first), SortedBytes(second));
}

TEST(ReadNumbers, TakesNumbersThatFit) {
  int64_t first = 0;
  int16_t second = 0;
  ASSERT_TRUE(ReadNumbers({"9223372036854775807", "32767"}, &first, &second).ok());
  EXPECT_EQ(first, INT64_MAX);
  EXPECT_EQ(second, INT16_MAX);
  for (const Parts& bad : {Parts{"1"}, Parts{"1", "2", "3"}, Parts{"1", "32768"},
                           Parts{"-1", "2"}, Parts{"1", ""}, Parts{"1", "2x"},
                           Parts{"9223372036854775808", "1"}}) {
    EXPECT_TRUE(IsRefused(ReadNumbers(bad, &first, &second)));
  }
}

TEST(ReadPageSize, HasADefaultAndAMost) {
  for (const auto& [wire, size] : {std::pair{0, 100}, {1, 1}, {1000, 1000}, {1001, 1000},
                                   {INT32_MAX, 1000}}) {
    const auto read = ReadPageSize(wire);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, size);
  }
  EXPECT_TRUE(IsRefused(ReadPageSize(-1).status(), "page_size"));
}

}  // namespace
}  // namespace skiplane::rpc
