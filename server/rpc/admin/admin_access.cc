#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/rpc/admin/admin_service.h"
#include "server/rpc/call/call_wire.h"

namespace skiplane::rpc {
namespace {

using access::Verb;

constexpr std::pair<Verb, v1::Verb> kVerbs[] = {
    {Verb::kEnqueue, v1::VERB_ENQUEUE}, {Verb::kLease, v1::VERB_LEASE},
    {Verb::kRead, v1::VERB_READ},       {Verb::kReadPayload, v1::VERB_READ_PAYLOAD},
    {Verb::kOperate, v1::VERB_OPERATE}, {Verb::kAdmin, v1::VERB_ADMIN},
};

// There is nothing to ask for.
struct WhoAmICall {};

absl::StatusOr<WhoAmICall> ReadWhoAmI(v1::WhoAmIRequest*) { return WhoAmICall(); }

absl::Status Permit(const access::Grants&, WhoAmICall*) { return absl::OkStatus(); }

}  // namespace

grpc::ServerUnaryReactor* AdminService::WhoAmI(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) {
  auto* call = new UnaryCall(scope_, "skiplane.v1.AdminService/WhoAmI", {context, reply});
  const auto read = ReadCall(*call, *request, &ReadWhoAmI);
  if (!read.ok()) return call->Refuse(read.status());
  v1::WhoAmIResponse response;
  response.set_principal(call->principal().name);
  for (const std::string& group : call->principal().groups) response.add_groups(group);
  for (const auto& [verb, wire] : kVerbs) {
    const std::vector<std::string> queues = call->grants().PatternsOf(verb);
    if (queues.empty()) continue;
    v1::Grant* const grant = response.add_grants();
    grant->set_verb(wire);
    grant->mutable_queues()->Assign(queues.begin(), queues.end());
  }
  call->Reply(response);
  return call;
}

}  // namespace skiplane::rpc
