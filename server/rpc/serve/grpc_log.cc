#include "server/rpc/serve/grpc_log.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/sampled_event.h"
#include "server/net/handshake_log.h"
#include "server/rpc/serve/grpc_versions.h"

namespace skiplane::rpc {
namespace {

// What gRPC says of a handshake that failed. The last part is OpenSSL's reason.
constexpr absl::string_view kFailedHandshake = "Handshake failed with fatal error";

void Write(const GrpcMessage& said) {
  if (absl::StartsWith(said.text, kFailedHandshake)) {
    const absl::string_view why = said.text.substr(said.text.rfind(':') + 1);
    if (net::IsAboutCertificate(why)) {
      return net::LogRefusedCertificate("", absl::StripSuffix(why, "."));
    }
  }
  static constinit base::SampledEvent event("grpc_message");
  if (!event.Wanted()) return;
  event.Write({{"severity", std::string(said.severity)},
               {"where", absl::StrCat(said.file, ":", said.line)},
               {"message", std::string(said.text)}});
}

}  // namespace

void TakeGrpcLog() { TakeGrpcMessages(&Write); }

}  // namespace skiplane::rpc
