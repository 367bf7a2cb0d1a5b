#include "server/rpc/call/caller.h"

#include <grpc/grpc_security_constants.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/base/rare_event.h"
#include "server/base/reason.h"
#include "server/net/certificate_time.h"

namespace skiplane::rpc {
namespace {

absl::Time ExpiryOf(absl::string_view unix_seconds) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(unix_seconds, &seconds)) return absl::InfiniteFuture();
  return absl::FromUnixSeconds(seconds);
}

}  // namespace

absl::string_view MetadataOf(const grpc::CallbackServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  if (found == context.client_metadata().end()) return "";
  return {found->second.data(), found->second.size()};
}

Caller CallerOf(const grpc::CallbackServerContext& context, bool is_passed_on) {
  if (is_passed_on) {
    return {std::string(MetadataOf(context, kCallerAddress)),
            std::string(MetadataOf(context, kCallerName)),
            ExpiryOf(MetadataOf(context, kCallerExpires))};
  }
  Caller caller{context.peer(), ""};
  const auto proven = context.auth_context();
  const auto names = proven->GetPeerIdentity();
  if (!names.empty()) caller.name = std::string(names[0].data(), names[0].size());
  const auto texts = proven->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!texts.empty()) {
    caller.certificate_expires = net::ExpiryOfPem({texts[0].data(), texts[0].size()});
  }
  return caller;
}

namespace {

absl::StatusOr<access::Admitted> TryAdmit(const access::Authenticator& authenticator,
                                          const Caller& caller, const ShownCredentials& shown) {
  if (shown.authorizations > 1) {
    return access::InvalidCredentials("`authorization` stands there more than once");
  }
  if (shown.authorizations == 1 && shown.authorization.empty()) {
    return access::InvalidCredentials("`authorization` is empty");
  }
  return authenticator.Admit({caller.name, std::string(shown.authorization),
                              shown.has_tls || IsOnThisMachine(caller),
                              caller.certificate_expires},
                             absl::Now());
}

}  // namespace

absl::StatusOr<access::Admitted> Admit(const access::Authenticator& authenticator,
                                       const Caller& caller, const ShownCredentials& shown) {
  absl::StatusOr<access::Admitted> admitted = TryAdmit(authenticator, caller, shown);
  if (!admitted.ok()) LogDenied("peer", caller.address, shown.method, admitted.status());
  return admitted;
}

void LogDenied(absl::string_view who, const std::string& name, absl::string_view method,
               const absl::Status& status) {
  static constinit base::RareEvent refused("callers_refused");
  if (!refused.Wanted()) return;
  refused.Write(base::LogLevel::kWarn, {{who, name},
                                        {"method", std::string(method)},
                                        {"reason", base::ReasonOf(status)}});
}

bool IsOnThisMachine(const Caller& caller) {
  const absl::string_view address = caller.address;
  return absl::StartsWith(address, "ipv4:127.") || absl::StartsWith(address, "ipv6:%5B::1%5D:") ||
         absl::StartsWith(address, "unix:");
}

}  // namespace skiplane::rpc
