#include "server/http/dashboard/site_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::http::dashboard {
namespace {

using ::testing::HasSubstr;

Head HeadWith(Fields fields) {
  fields.emplace_back("host", "localhost:7080");
  return {"POST", "/x", std::move(fields)};
}

// As the dashboard's page calls.
Fields Call(Fields further) {
  further.emplace_back("connect-protocol-version", "1");
  return further;
}

TEST(SiteGuard, TheOwnPageLogsInAndWhoIsNoBrowserDoes) {
  for (const Fields& fields :
       {Fields{}, Fields{{"origin", "http://localhost:7080"}}, Fields{{"sec-fetch-site", "none"}},
        Fields{{"origin", "http://localhost:7080"}, {"sec-fetch-site", "same-origin"}}}) {
    EXPECT_EQ(WhyNoLogin(HeadWith(fields)), "");
  }
}

TEST(SiteGuard, NoOtherPageLogsIn) {
  for (const char* origin : {"https://tools.example", "http://localhost:7081", "null", ""}) {
    EXPECT_THAT(WhyNoLogin(HeadWith({{"origin", origin}})), HasSubstr("Origin")) << origin;
  }
  EXPECT_THAT(WhyNoLogin(HeadWith({{"origin", "http://localhost:7080"},
                                   {"origin", "http://localhost:7080"}})),
              HasSubstr("Origin"));
  for (const char* site : {"cross-site", "same-site", "", "same-origin, none"}) {
    EXPECT_THAT(WhyNoLogin(HeadWith({{"sec-fetch-site", site}})), HasSubstr("Sec-Fetch-Site"));
  }
}

TEST(SiteGuard, TheCookieCountsInCallsOfTheOwnPage) {
  EXPECT_EQ(WhyNoCookie(HeadWith(Call({}))), "");
  EXPECT_EQ(WhyNoCookie(HeadWith(Call({{"origin", "http://localhost:7080"},
                                       {"sec-fetch-site", "same-origin"}}))),
            "");
}

TEST(SiteGuard, TheCookieDoesNotCountInCallsThatAnotherPageCanMakeABrowserSend) {
  EXPECT_THAT(WhyNoCookie(HeadWith({})), HasSubstr("Connect-Protocol-Version"));
  EXPECT_THAT(WhyNoCookie(HeadWith({{"connect-protocol-version", ""}})),
              HasSubstr("Connect-Protocol-Version"));
  EXPECT_THAT(WhyNoCookie(HeadWith(Call({{"origin", "https://tools.example"}}))),
              HasSubstr("Origin"));
  for (const char* site : {"cross-site", "same-site", "none", ""}) {
    EXPECT_THAT(WhyNoCookie(HeadWith(Call({{"sec-fetch-site", site}}))),
                HasSubstr("Sec-Fetch-Site"))
        << site;
  }
}

}  // namespace
}  // namespace skiplane::http::dashboard
