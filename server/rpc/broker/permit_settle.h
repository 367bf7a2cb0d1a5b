// May the caller do what its settlement says? As permit.h. Its tokens prove that it may settle; the
// next lease and the follow-ups are asked for.
#pragma once

#include <string>

#include "server/access/rules.h"
#include "server/rpc/broker/convert_settle.h"

namespace skiplane::rpc {

// ACCESS_DENIED for a next lease that the caller may not have. An ack with a follow-up that it may
// not enqueue is refused by itself.
absl::Status Permit(const access::Grants& grants, SettleCall* call);

// Says whose follow-ups they are: `principal`, where somebody proves it, and `party`, as in
// LeaseCall.
void OwnFollowUps(const std::string& principal, const std::string& party, SettleCall& call);

}  // namespace skiplane::rpc
