// Tells requests of the dashboard's own page from those that pages of other sites make a browser
// send, with the cookies that it has for this one. Pure functions.
#pragma once

#include <string>

#include "server/http/message.h"

namespace skiplane::http::dashboard {

// Why a log-in, or its end, may not come from where this one does; empty if it may.
std::string WhyNoLogin(const Head& head);

// Why the log-in cookie of this call does not count; empty if it does. Asks for a field, too, that
// a browser lets no page of another site send unless we say so before.
std::string WhyNoCookie(const Head& head);

}  // namespace skiplane::http::dashboard
