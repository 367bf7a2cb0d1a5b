// Who calls. The calls of the HTTP port come through a server of its own inside the process, with
// metadata that says who called there; no port leads to that server, so nobody else can say it.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/access/authenticator.h"

#include <string>

namespace skiplane::rpc {

// Metadata of a call that is passed on.
inline constexpr char kCallerAddress[] = "skiplane-caller-address";
inline constexpr char kCallerName[] = "skiplane-caller-name-bin";
inline constexpr char kCallerExpires[] = "skiplane-caller-expires";  // Unix seconds

struct Caller {
  std::string address;  // and port, as gRPC spells them: "ipv4:127.0.0.1:40000"
  std::string name;     // in its certificate; empty: it has shown none
  absl::Time certificate_expires = absl::InfiniteFuture();
};

// `is_passed_on`: the call comes from our own HTTP port.
Caller CallerOf(const grpc::CallbackServerContext& context, bool is_passed_on);

// The first value of this name; empty if there is none. Lives as long as the call.
absl::string_view MetadataOf(const grpc::CallbackServerContext& context, const char* name);

inline constexpr char kAuthorization[] = "authorization";

// What came with a call, beside its caller.
struct ShownCredentials {
  absl::string_view authorization;  // the first header of this name
  size_t authorizations = 0;        // how many there are
  bool has_tls = false;             // the connection
  absl::string_view method{};       // for the log
};

// Who calls, and what that one may do. UNAUTHENTICATED as access::Authenticator says, and for a
// header that stands there twice, which would leave open which one counts.
absl::StatusOr<access::Admitted> Admit(const access::Authenticator& authenticator,
                                       const Caller& caller, const ShownCredentials& shown);

// For the operator, once in ten seconds at most: somebody may not do what it tries. `who` is a
// principal, or a `peer` while nobody knows that.
void LogDenied(absl::string_view who, const std::string& name, absl::string_view method,
               const absl::Status& status);

// Whether the address is one of this machine that no other can call from.
bool IsOnThisMachine(const Caller& caller);

}  // namespace skiplane::rpc
