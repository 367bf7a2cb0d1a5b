#include "server/rpc/call/caller.h"

namespace skiplane::rpc {
namespace {

std::string MetadataOf(const grpc::CallbackServerContext& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  if (found == context.client_metadata().end()) return "";
  return {found->second.data(), found->second.size()};
}

}  // namespace

Caller CallerOf(const grpc::CallbackServerContext& context, bool is_passed_on) {
  if (is_passed_on) {
    return {MetadataOf(context, kCallerAddress), MetadataOf(context, kCallerName)};
  }
  Caller caller{context.peer(), ""};
  const auto names = context.auth_context()->GetPeerIdentity();
  if (!names.empty()) caller.name = std::string(names[0].data(), names[0].size());
  return caller;
}

}  // namespace skiplane::rpc
