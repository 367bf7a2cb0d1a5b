#include "server/http/dashboard/site_guard.h"

#include "absl/strings/string_view.h"
#include "server/http/site.h"

namespace skiplane::http::dashboard {
namespace {

constexpr char kVersion[] = "connect-protocol-version";
constexpr char kFetchSite[] = "sec-fetch-site";

bool IsFetchSite(const Head& head, absl::string_view site) {
  return head.Count(kFetchSite) == 1 && head.Find(kFetchSite) == site;
}

}  // namespace

std::string WhyNoLogin(const Head& head) {
  if (!IsFromOwnPage(head)) {
    return "only the dashboard's own page logs in and out: the Origin is that of another one";
  }
  if (head.Count(kFetchSite) > 0 && !IsFetchSite(head, "same-origin") &&
      !IsFetchSite(head, "none")) {
    return "only the dashboard's own page logs in and out: Sec-Fetch-Site must be same-origin";
  }
  return "";
}

std::string WhyNoCookie(const Head& head) {
  if (head.Count(kVersion) != 1 || head.Find(kVersion).empty()) {
    return "the log-in cookie counts only in a call with Connect-Protocol-Version: 1";
  }
  if (!IsFromOwnPage(head)) {
    return "the log-in cookie counts only in calls of the dashboard's own page: send "
           "`authorization: Bearer ...` from that Origin";
  }
  if (head.Count(kFetchSite) > 0 && !IsFetchSite(head, "same-origin")) {
    return "the log-in cookie counts only in calls whose Sec-Fetch-Site is same-origin";
  }
  return "";
}

}  // namespace skiplane::http::dashboard
