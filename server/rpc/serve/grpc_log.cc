#include "server/rpc/serve/grpc_log.h"

#include <grpc/support/log.h>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"

namespace skiplane::rpc {
namespace {

void Write(gpr_log_func_args* said) {
  static constinit base::SampledEvent event("grpc_message");
  if (!event.Wanted()) return;
  event.Write({{"severity", gpr_log_severity_string(said->severity)},
               {"where", absl::StrCat(said->file, ":", said->line)},
               {"message", said->message}});
}

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(&Write); }

}  // namespace skiplane::rpc
