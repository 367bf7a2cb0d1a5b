#include "server/http/dashboard/dashboard.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/http/connect/content.h"
#include "server/http/connect/failure.h"
#include "server/http/dashboard/login.h"
#include "server/http/dashboard/login_cookie.h"
#include "server/http/dashboard/site_guard.h"

namespace skiplane::http::dashboard {
namespace {

constexpr char kAuthorizationField[] = "authorization";
constexpr char kWithoutSlash[] = "/dashboard";

bool IsRead(const Head& head) { return head.method == "GET" || head.method == "HEAD"; }

// The start of the site leads to the dashboard only those who read.
bool IsOwn(const Head& head) {
  return absl::StartsWith(head.path, kRoot) || head.path == kWithoutSlash ||
         (head.path == "/" && IsRead(head));
}

bool IsLoginOrLogout(const Head& head) { return head.path == kLogin || head.path == kLogout; }

connect::Refusal TooLarge() {
  return {413, absl::StrCat("the body may have at most ", kLoginBytesMax, " bytes")};
}

// What is wrong with the head of a log-in or log-out.
std::optional<connect::Refusal> CheckPost(const Head& head) {
  std::string why = WhyNoLogin(head);
  if (!why.empty()) return connect::Refusal{403, std::move(why)};
  if (head.path == kLogin && connect::FormOf(head, false) != connect::Form::kJson) {
    return connect::Refusal{415, "Content-Type must be application/json",
                            {{"Accept-Post", "application/json"}}};
  }
  if (head.Count("content-encoding") > 0) {
    return connect::Refusal{501, "the body must not be compressed",
                            {{"Accept-Encoding", "identity"}}};
  }
  uint64_t bytes = 0;
  const bool is_too_large = absl::SimpleAtoi(head.Find("content-length"), &bytes) &&
                            bytes > kLoginBytesMax;
  return is_too_large ? std::optional(TooLarge()) : std::nullopt;
}

// Both a browser and a cache must ask anew.
Response Unkept(Response response) {
  response.fields.emplace_back("Cache-Control", "no-store");
  return response;
}

// The browser may speak TLS with a proxy. It says so itself, and of nobody but itself.
bool SpeaksTls(const Head& head, bool has_tls) {
  return has_tls || absl::StartsWithIgnoreCase(head.Find("origin"), "https://");
}

}  // namespace

Dashboard::Dashboard(Handler& calls, Options options)
    : calls_(calls), options_(std::move(options)), pages_(Files()) {}

Response Dashboard::AnswerRefusal(const connect::Refusal& refusal) const {
  options_.refused(connect::NameOf(refusal));
  return connect::AnswerOf(refusal, std::nullopt);
}

std::optional<connect::Refusal> Dashboard::CheckOwn(const Head& head) const {
  if (auto refusal = options_.site.Check(head)) {
    return connect::Refusal{refusal->status, std::move(refusal->why)};
  }
  if (IsLoginOrLogout(head) && head.method == "POST") return CheckPost(head);
  if (!IsRead(head)) {
    return connect::Refusal{405, "this page can only be read",
                            {{"Allow", IsLoginOrLogout(head) ? "GET, HEAD, POST" : "GET, HEAD"}}};
  }
  if (absl::StartsWith(head.path, kRoot) && !pages_.Has(head.path)) {
    return connect::Refusal{404, "the dashboard has no such file"};
  }
  return std::nullopt;
}

std::optional<Response> Dashboard::Refuse(const Head& head, const Caller& caller) {
  if (IsOwn(head)) {
    const auto refusal = CheckOwn(head);
    return refusal ? std::optional(AnswerRefusal(*refusal)) : std::nullopt;
  }
  const std::optional<Proven> proven = Prove(head);
  if (!proven) return calls_.Refuse(head, caller);
  std::optional<Response> refusal = calls_.Refuse(proven->head, caller);
  if (!refusal || refusal->status != 401 || proven->why_not.empty()) return refusal;
  // The caller did show something: what it lacks is not what the handler of calls says.
  return With(connect::RefusalResponse(base::Refuse(absl::StatusCode::kUnauthenticated,
                                                    "CREDENTIALS_MISSING", proven->why_not)),
              options_.site.AnswerFields(head));
}

std::optional<Dashboard::Proven> Dashboard::Prove(const Head& head) const {
  if (head.Count("cookie") == 0 || head.Count(kAuthorizationField) > 0) return std::nullopt;
  const auto token = TokenOf(head, options_.has_tls);
  if (!token.ok()) return Proven{head, std::string(token.status().message())};
  if (!*token) return std::nullopt;
  if (std::string why = WhyNoCookie(head); !why.empty()) return Proven{head, std::move(why)};
  Proven proven{head, ""};
  proven.head.fields.emplace_back(kAuthorizationField, absl::StrCat("Bearer ", **token));
  return proven;
}

void Dashboard::Handle(Request request, std::shared_ptr<Exchange> exchange) {
  if (IsOwn(request.head)) return exchange->Answer(AnswerOwn(request));
  if (auto proven = Prove(request.head)) request.head = std::move(proven->head);
  calls_.Handle(std::move(request), std::move(exchange));
}

Response Dashboard::AnswerOwn(const Request& request) const {
  const Head& head = request.head;
  if (head.path == "/") return {303, "", "", {{"Location", kRoot}}};
  if (head.path == kWithoutSlash) return {308, "", "", {{"Location", kRoot}}};
  if (head.method != "POST") return pages_.Answer(head);
  if (request.body.size() > kLoginBytesMax) return AnswerRefusal(TooLarge());
  return head.path == kLogin ? LogIn(request) : Unkept({204, "", "", DropCookies()});
}

Response Dashboard::LogIn(const Request& request) const {
  const auto token = ReadLogin(request.body);
  if (!token.ok()) {
    options_.refused(connect::kBodyRefused);
    return Unkept(connect::RefusalResponse(token.status()));
  }
  const Head shown{"POST", request.head.path,
                   {{kAuthorizationField, absl::StrCat("Bearer ", *token)}}};
  const absl::Status admitted = options_.admit(shown, request.caller);
  if (!admitted.ok()) {
    options_.refused("caller");
    return Unkept(connect::RefusalResponse(admitted));
  }
  return Unkept({204, "", "", KeepCookie(*token, SpeaksTls(request.head, options_.has_tls))});
}

Response Dashboard::Failure(int status, absl::string_view message, const Head& head) {
  return calls_.Failure(status, message, head);
}

}  // namespace skiplane::http::dashboard
