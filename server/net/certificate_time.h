// Until when certificates are valid: InfinitePast of what cannot be read. Thread-safe.
#pragma once

#include <openssl/x509.h>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::net {

absl::Time ExpiryOf(const X509& certificate);

// Of the first certificate in a PEM text. What was read is remembered, as each call of a connection
// shows the same text.
absl::Time ExpiryOfPem(absl::string_view pem);

}  // namespace skiplane::net
