#include "server/http/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "server/base/reason.h"
#include "server/http/connect/failure.h"
#include "tests/http/connect/recorded_exchange.h"

namespace skiplane::http::dashboard {
namespace {

using connect::RecordedExchange;
using ::testing::HasSubstr;

constexpr char kCall[] = "/skiplane.v1.AdminService/ListQueues";
constexpr char kGood[] = "Bearer skt_good";
constexpr char kElsewhere[] = "ipv4:10.0.0.1:40000";

// Tokens from this machine only, as where there is no TLS.
absl::Status Judge(absl::string_view authorization, const Caller& caller = {}) {
  if (authorization == kGood && caller.address != kElsewhere) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kUnauthenticated, "CREDENTIALS_INVALID", "who calls?");
}

// Answers calls of who is known.
class Calls final : public Handler {
 public:
  std::optional<Response> Refuse(const Head& head, const Caller& /*caller*/) override {
    refused_ = head;
    const absl::Status judged = Judge(head.Find("authorization"));
    return judged.ok() ? std::nullopt : std::optional(connect::RefusalResponse(judged));
  }
  void Handle(Request request, std::shared_ptr<Exchange> exchange) override {
    handled_ = request.head;
    exchange->Answer({200, "", "called"});
  }
  Response Failure(int status, absl::string_view message, const Head& /*head*/) override {
    return {status, "", std::string(message)};
  }

  Head refused_;
  Head handled_;
};

class DashboardTest : public ::testing::Test {
 protected:
  // As the server asks a handler.
  Response Ask(Request request) {
    request.head.fields.emplace_back("host", "localhost:7080");
    if (auto refusal = dashboard_.Refuse(request.head, request.caller)) return *refusal;
    const auto exchange = std::make_shared<RecordedExchange>();
    dashboard_.Handle(std::move(request), exchange);
    exchange->Await("answer");
    return exchange->answer();
  }
  Response Get(std::string path) { return Ask({{"GET", std::move(path), {}}, "", {}}); }
  Response LogIn(std::string body, Fields fields = {{"content-type", "application/json"}}) {
    return Ask({{"POST", kLogin, std::move(fields)}, std::move(body), {}});
  }
  Response CallWith(Fields fields) { return Ask({{"POST", kCall, std::move(fields)}, "{}", {}}); }
  static std::string Field(const Response& response, absl::string_view name) {
    return std::string(FindField(response.fields, name));
  }

  Calls calls_;
  std::map<std::string, int> refused_;
  Dashboard dashboard_{
      calls_,
      {Site({}, {"https://tools.example"}), false,
       [](const Head& head, const Caller& caller) {
         return Judge(head.Find("authorization"), caller);
       },
       [this](absl::string_view reason) { ++refused_[std::string(reason)]; }}};
};

TEST_F(DashboardTest, TheStartOfTheSiteLeadsToIt) {
  EXPECT_EQ(Get("/").status, 303);
  EXPECT_EQ(Field(Get("/"), "Location"), "/dashboard/");
  EXPECT_EQ(Get("/dashboard").status, 308);
  EXPECT_EQ(Field(Get("/dashboard"), "Location"), "/dashboard/");
  EXPECT_EQ(Get("/dashboard/").status, 200);
  EXPECT_EQ(Get("/dashboard/none.js").status, 404);
  EXPECT_EQ(refused_["path"], 1);
}

TEST_F(DashboardTest, OtherPathsAndMethodsOfTheStartAreNotItsOwn) {
  for (const char* path : {"/healthz", "/dashboards", "/x"}) {
    EXPECT_EQ(Get(path).status, 401) << path;
    EXPECT_EQ(calls_.refused_.path, path);
  }
  EXPECT_EQ(Ask({{"POST", "/", {}}, "", {}}).status, 401);
  EXPECT_EQ(calls_.refused_.path, "/");
}

TEST_F(DashboardTest, ItsFilesAreOnlyRead) {
  for (const char* path : {"/dashboard", "/dashboard/", "/dashboard/dashboard.js"}) {
    const Response response = Ask({{"PUT", path, {}}, "", {}});
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(Field(response, "Allow"), "GET, HEAD");
  }
  EXPECT_EQ(Field(Ask({{"DELETE", kLogin, {}}, "", {}}), "Allow"), "GET, HEAD, POST");
  EXPECT_EQ(refused_["method"], 4);
}

TEST_F(DashboardTest, AStrangeNameOfTheServerIsRefused) {
  const Request request{{"GET", "/dashboard/", {{"host", "evil.example"}}}, "", {}};
  EXPECT_EQ(dashboard_.Refuse(request.head, request.caller)->status, 403);
  EXPECT_EQ(refused_["site"], 1);
}

TEST_F(DashboardTest, ALoginKeepsATokenThatIsGood) {
  const Response response = LogIn(R"({"token":"skt_good"})");
  EXPECT_EQ(response.status, 204);
  EXPECT_THAT(Field(response, "Set-Cookie"), HasSubstr("skiplane_session=skt_good; "));
  EXPECT_EQ(Field(response, "Cache-Control"), "no-store");
}

TEST_F(DashboardTest, ALoginWithABadTokenKeepsNothing) {
  const Response response = LogIn(R"({"token":"skt_bad"})");
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(Field(response, "Set-Cookie"), "");
  EXPECT_THAT(response.body, HasSubstr("who calls?"));
  EXPECT_EQ(refused_["caller"], 1);
}

TEST_F(DashboardTest, ALoginIsJudgedByWhereItComesFrom) {
  const Response response = Ask({{"POST", kLogin, {{"content-type", "application/json"}}},
                                 R"({"token":"skt_good"})",
                                 {kElsewhere, ""}});
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(Field(response, "Set-Cookie"), "");
}

TEST_F(DashboardTest, ALoginThatIsNoneIsRefused) {
  const Fields json = {{"content-type", "application/json"}};
  EXPECT_EQ(LogIn("{}").status, 400);
  EXPECT_EQ(LogIn(R"({"token":"skt_good"})", {}).status, 415);
  EXPECT_EQ(LogIn(R"({"token":"skt_good"})", {{"content-type", "text/plain"}}).status, 415);
  EXPECT_EQ(LogIn("", {{"content-type", "application/json"}, {"content-encoding", "gzip"}}).status,
            501);
  EXPECT_EQ(LogIn("", {{"content-type", "application/json"}, {"content-length", "16385"}}).status,
            413);
  EXPECT_EQ(LogIn(std::string(16385, ' '), json).status, 413);
  EXPECT_EQ(LogIn(R"({"token":"skt_good"})", {{"content-type", "application/json"},
                                              {"origin", "https://tools.example"}})
                .status,
            403);
  const std::map<std::string, int> counted = {{"body", 1}, {"content_type", 2}, {"encoding", 1},
                                              {"size", 2}, {"site", 1}};
  EXPECT_EQ(refused_, counted);
}

TEST_F(DashboardTest, ABrowserThatSpeaksTlsKeepsTheCookieForTls) {
  const Response response = LogIn(
      R"({"token":"skt_good"})",
      {{"content-type", "application/json"}, {"origin", "https://localhost:7080"}});
  EXPECT_THAT(Field(response, "Set-Cookie"), HasSubstr("__Host-skiplane_session=skt_good; "));
  EXPECT_THAT(Field(response, "Set-Cookie"), HasSubstr("; Secure"));
}

TEST_F(DashboardTest, ALogoutMakesTheBrowserForget) {
  const Response response = Ask({{"POST", kLogout, {}}, "", {}});
  EXPECT_EQ(response.status, 204);
  EXPECT_THAT(Field(response, "Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(Ask({{"POST", kLogout, {{"sec-fetch-site", "cross-site"}}}, "", {}}).status, 403);
}

TEST_F(DashboardTest, TheCookieProvesACall) {
  const Fields fields = {{"cookie", "skiplane_session=skt_good"},
                         {"connect-protocol-version", "1"}};
  EXPECT_EQ(CallWith(fields).body, "called");
  EXPECT_EQ(calls_.handled_.Find("authorization"), kGood);
}

TEST_F(DashboardTest, AuthorizationGoesBeforeTheCookie) {
  Fields fields = {{"cookie", "skiplane_session=skt_good"}, {"connect-protocol-version", "1"},
                   {"authorization", "Bearer skt_bad"}};
  EXPECT_EQ(CallWith(fields).status, 401);
  fields = {{"cookie", "skiplane_session=skt_bad"}, {"connect-protocol-version", "1"},
            {"authorization", kGood}};
  EXPECT_EQ(CallWith(fields).body, "called");
  EXPECT_EQ(calls_.handled_.Count("authorization"), 1U);
}

TEST_F(DashboardTest, ACookieThatDoesNotCountIsIgnoredAndTheRefusalSaysWhy) {
  const std::pair<Fields, const char*> kCases[] = {
      {{}, "Connect-Protocol-Version"},
      {{{"connect-protocol-version", "1"}, {"origin", "https://tools.example"}}, "Origin"},
      {{{"connect-protocol-version", "1"}, {"sec-fetch-site", "cross-site"}}, "Sec-Fetch-Site"},
      {{{"connect-protocol-version", "1"}, {"cookie", "skiplane_session=x"}}, "twice"}};
  for (auto [fields, why] : kCases) {
    fields.emplace_back("cookie", "skiplane_session=skt_good");
    const Response response = CallWith(fields);
    EXPECT_EQ(response.status, 401) << why;
    EXPECT_THAT(response.body, HasSubstr(why));
    EXPECT_EQ(calls_.refused_.Count("authorization"), 0U) << why;
  }
}

TEST_F(DashboardTest, AListedPageReadsWhyTheCookieDoesNotCount) {
  const Response response = CallWith({{"cookie", "skiplane_session=skt_good"},
                                      {"origin", "https://tools.example"}});
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(Field(response, "Access-Control-Allow-Origin"), "https://tools.example");
}

TEST_F(DashboardTest, OtherRefusalsStayAsTheyAre) {
  EXPECT_THAT(CallWith({{"cookie", "a=b"}}).body, HasSubstr("who calls?"));
  EXPECT_THAT(CallWith({{"cookie", "skiplane_session=skt_bad"}, {"connect-protocol-version", "1"}})
                  .body,
              HasSubstr("who calls?"));
  EXPECT_EQ(dashboard_.Failure(431, "large", {}).body, "large");
}

}  // namespace
}  // namespace skiplane::http::dashboard
