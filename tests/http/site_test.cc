#include "server/http/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace skiplane::http {
namespace {

using ::testing::IsEmpty;

Head HeadWith(Fields fields, std::string method = "POST") {
  return {std::move(method), "/x", std::move(fields)};
}

TEST(Site, TheHostIsWhatIsBeforeThePort) {
  EXPECT_EQ(HostWithoutPort("localhost:7080"), "localhost");
  EXPECT_EQ(HostWithoutPort("localhost"), "localhost");
  EXPECT_EQ(HostWithoutPort("[::1]:7080"), "::1");
  EXPECT_EQ(HostWithoutPort("[::1]"), "::1");
  EXPECT_EQ(HostWithoutPort("[::1"), "");
}

TEST(Site, OnlyItsOwnNamesAreServed) {
  const Site site({"broker.internal"}, {});
  for (const char* host : {"localhost", "127.0.0.1:1", "[::1]:1", "10.0.0.1", "BROKER.internal"}) {
    EXPECT_FALSE(site.Check(HeadWith({{"host", host}})).has_value()) << host;
  }
  for (const char* host : {"evil.example", "broker.internal.evil.example", "", "1.2.3"}) {
    EXPECT_EQ(site.Check(HeadWith({{"host", host}}))->status, 403) << host;
  }
  EXPECT_EQ(site.Check(HeadWith({}))->status, 400);
  EXPECT_EQ(site.Check(HeadWith({{"host", "localhost"}, {"host", "localhost"}}))->status, 400);
}

TEST(Site, ThePortOfAHostIsANumber) {
  const auto status_of = [](const char* host) {
    const auto refusal = Site({}, {}).Check(HeadWith({{"host", host}}));
    return refusal ? refusal->status : 200;
  };
  for (const char* host : {"localhost:", "localhost:0", "localhost:65535", "[::1]:80", "[::1]"}) {
    EXPECT_EQ(status_of(host), 200) << host;
  }
  for (const char* host : {"localhost:abc", "localhost:80x", "localhost:+80", "localhost: 80",
                           "localhost:65536", "localhost:99999999999", "[::1]80", "[::1]:x"}) {
    EXPECT_EQ(status_of(host), 400) << host;
  }
}

TEST(Site, AListedPageIsNotItsOwn) {
  const auto is_own = [](Fields fields) {
    fields.emplace_back("host", "localhost:7080");
    return IsFromOwnPage(HeadWith(std::move(fields)));
  };
  EXPECT_TRUE(is_own({}));
  EXPECT_TRUE(is_own({{"origin", "http://localhost:7080"}}));
  EXPECT_TRUE(is_own({{"origin", "https://LOCALHOST:7080"}}));
  for (const char* origin : {"https://tools.example", "http://localhost", "localhost:7080", "null",
                             ""}) {
    EXPECT_FALSE(is_own({{"origin", origin}})) << origin;
  }
  EXPECT_FALSE(is_own({{"origin", "http://localhost:7080"}, {"origin", "http://localhost:7080"}}));
}

TEST(Site, OnlyItsOwnPagesAndListedOnesMayCall) {
  const Site site({}, {"https://tools.example"});
  const auto allows = [&](const char* origin) {
    return !site.Check(HeadWith({{"host", "localhost:7080"}, {"origin", origin}})).has_value();
  };
  EXPECT_TRUE(allows("http://localhost:7080"));
  EXPECT_TRUE(allows("https://localhost:7080"));
  EXPECT_TRUE(allows("https://tools.example"));
  EXPECT_FALSE(allows("http://localhost:7081"));
  EXPECT_FALSE(allows("https://tools.example.evil"));
  EXPECT_FALSE(allows("null"));
}

TEST(Site, WithoutAListNoPageFromElsewhereReadsAnything) {
  EXPECT_THAT(Site({}, {}).AnswerFields(HeadWith({{"origin", "https://a"}})), IsEmpty());
}

TEST(Site, AnAnswerMayBeReadByTheListedPageThatAsked) {
  const Site site({}, {"https://a", "https://b"});
  const Fields fields = site.AnswerFields(HeadWith({{"origin", "https://b"}}));
  EXPECT_EQ(FindField(fields, "Access-Control-Allow-Origin"), "https://b");
  EXPECT_EQ(FindField(fields, "Vary"), "Origin");
  EXPECT_EQ(FindField(site.AnswerFields(HeadWith({})), "Access-Control-Allow-Origin"), "");
}

TEST(Site, WhatABrowserAsksFirstIsAnsweredForListedPagesOnly) {
  const Site site({}, {"https://a"});
  const Fields asked = {{"origin", "https://a"}, {"access-control-request-method", "POST"}};
  EXPECT_EQ(site.Preflight(HeadWith(asked, "OPTIONS"))->status, 204);
  EXPECT_FALSE(site.Preflight(HeadWith(asked, "POST")).has_value());
  EXPECT_FALSE(site.Preflight(HeadWith({asked[0]}, "OPTIONS")).has_value());
  EXPECT_FALSE(site.Preflight(HeadWith({{"origin", "https://b"}, asked[1]}, "OPTIONS")));
}

TEST(Site, APageMaySendWhatTheServicesTake) {
  const Site site({}, {"https://a"});
  const Response response = *site.Preflight(HeadWith(
      {{"origin", "https://a"},
       {"access-control-request-method", "POST"},
       {"access-control-request-headers", "content-type, skiplane-tenant,x-other, Skiplane-a\tb"}},
      "OPTIONS"));
  EXPECT_EQ(FindField(response.fields, "Access-Control-Allow-Headers"),
            "Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Content-Encoding, "
            "Content-Type, Skiplane-Actor, skiplane-tenant");
}

}  // namespace
}  // namespace skiplane::http
