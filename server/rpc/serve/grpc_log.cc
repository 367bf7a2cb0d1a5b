#include "server/rpc/serve/grpc_log.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"
#include "server/rpc/serve/grpc_versions.h"

namespace skiplane::rpc {
namespace {

void Write(const GrpcMessage& said) {
  static constinit base::SampledEvent event("grpc_message");
  if (!event.Wanted()) return;
  event.Write({{"severity", std::string(said.severity)},
               {"where", absl::StrCat(said.file, ":", said.line)},
               {"message", std::string(said.text)}});
}

}  // namespace

void TakeGrpcLog() { TakeGrpcMessages(&Write); }

}  // namespace skiplane::rpc
