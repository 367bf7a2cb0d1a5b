// The cookie that a log-in at the dashboard leaves in the browser. It holds the bearer token: any
// broker knows it, and a token that is taken away ends the log-in at once. Scripts cannot read it
// (HttpOnly), and no page of another site makes a browser send it (SameSite=Strict).
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http/message.h"

namespace skiplane::http::dashboard {

inline constexpr char kCookie[] = "skiplane_session";
// Browsers take this name only from TLS, and for this host alone.
inline constexpr char kSecureCookie[] = "__Host-skiplane_session";

// Browsers drop a cookie of more than 4,096 bytes with its name.
inline constexpr size_t kTokenBytesMax = 4000;

// Whether `text` is a token as RFC 6750 has it, of a size that fits. Such a text stands in a cookie
// as it is.
bool IsToken(absl::string_view text);

// The token of the cookie that came; nothing if there is none. `has_tls`: the connection; only the
// cookie of TLS counts there. INVALID_ARGUMENT if it holds no token, or there are two of it: then
// nobody knows whose the second one is. The message repeats nothing of it.
absl::StatusOr<std::optional<std::string>> TokenOf(const Head& head, bool has_tls);

// What makes a browser keep it, for half a day. `is_secure`: the browser speaks TLS.
Fields KeepCookie(absl::string_view token, bool is_secure);
// What makes it forget both.
Fields DropCookies();

}  // namespace skiplane::http::dashboard
