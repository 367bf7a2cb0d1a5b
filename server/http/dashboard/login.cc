#include "server/http/dashboard/login.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/http/dashboard/login_cookie.h"

namespace skiplane::http::dashboard {
namespace {

absl::Status RefuseLogin(absl::string_view why) {
  return base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD", why);
}

}  // namespace

absl::StatusOr<std::string> ReadLogin(absl::string_view body) {
  using nlohmann::json;
  constexpr char kField[] = "token";
  int names = 0;  // also of those that stand there twice, of which the last one would win
  const auto count = [&names](int /*depth*/, json::parse_event_t event, json& /*value*/) {
    names += event == json::parse_event_t::key ? 1 : 0;
    return true;
  };
  const json login = json::parse(body.begin(), body.end(), count, false);
  if (!login.is_object() || names != 1 || !login.contains(kField) || !login[kField].is_string()) {
    return RefuseLogin("the body must be JSON with one field: {\"token\": \"...\"}");
  }
  std::string token(absl::StripAsciiWhitespace(login[kField].get_ref<const std::string&>()));
  if (token.size() > kTokenBytesMax) {
    return RefuseLogin(absl::StrCat("token: has more than ", kTokenBytesMax,
                                    " bytes, which no browser keeps: use a shorter one"));
  }
  if (!IsToken(token)) {
    return RefuseLogin("token: must be a bearer token, as skiplaned make-token prints it, or a "
                       "JSON Web Token");
  }
  return token;
}

}  // namespace skiplane::http::dashboard
