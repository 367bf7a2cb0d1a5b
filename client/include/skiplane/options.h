// How a Client connects: addresses, TLS, timeouts and retries. Every default suits a broker on the
// same machine; the comments give the range and what happens at its edges.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "skiplane/codec.h"

namespace skiplane {

// These files are read once, by Client::Connect; an unreadable one is its error.
struct TlsOptions {
  // False: plain text, for a broker on the loopback interface or in a trusted network.
  bool enabled = false;
  // PEM file of the authorities to trust. Empty: those of the system.
  std::string ca_file{};
  // PEM files of the client's own certificate, for a broker that asks for one. Both or none.
  std::string certificate_file{};
  std::string key_file{};
  // The name that the broker's certificate must contain. Empty: the host of the address.
  std::string server_name{};
};

struct ClientOptions {
  // One or several "host:port" (or "unix:/path"). Calls rotate among the brokers that can be
  // reached, from a random one on; a repeated attempt goes to the next one. A stream, that of all
  // enqueues and that of a Worker, stays with its broker until it ends.
  std::vector<std::string> addresses = {"127.0.0.1:7070"};
  TlsOptions tls{};
  // The caller's name in the broker's audit records: 0 to 255 bytes of printable ASCII.
  // Empty: the broker takes the name in the client's certificate, else its address.
  std::string actor{};
  // What proves to the broker who calls: a bearer token, sent with each call as `authorization`.
  // Needs TLS, unless all addresses are of this machine. Never logged. Empty: none.
  std::string token{};
  // In its place a file whose first line is the token, for tokens that end. Connect reads it, and
  // calls read it again: once a second, and when the broker refuses the token (UNAUTHENTICATED).
  // With a new one the call is repeated at once. So whoever renews tokens writes a file beside it
  // and renames that. While the file cannot be read, the token that was read last is sent.
  std::string token_file{};
  // The deadline of a call without a timeout of its own, over all its attempts. Lease adds the time
  // that it may wait. Above 0.
  absl::Duration call_timeout = absl::Seconds(20);
  // How often a call is sent in all when the broker is UNAVAILABLE, if repeating it is safe, or
  // says RESOURCE_EXHAUSTED, which changes nothing: too many calls, a full queue. 1 to 5; 1 never
  // repeats.
  int max_attempts = 5;
  // The pause before the second attempt; each further one is three times as long, up to
  // max_backoff, and each is cut to a random 50 to 100 % so that clients do not return in step.
  // With the defaults a call bridges about 3 seconds of absence. Where the broker says when to come
  // again, the pause is no shorter than that; if it would end after the deadline, the call fails at
  // once.
  absl::Duration backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(10);
  // Changes payloads and results on their way (codec.h). Empty: they stay as they are.
  std::shared_ptr<const Codec> codec{};
  // Without a codec, what a codec made is not handed out. True: it is, as it came, with its header;
  // for programs that decode it elsewhere.
  bool pass_encoded = false;
};

}  // namespace skiplane
