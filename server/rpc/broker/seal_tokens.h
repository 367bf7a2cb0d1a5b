// Lease tokens at the border: what callers send is opened before it is read, what they get is
// sealed when it is written (access::TokenSeal). Inside, tokens are bare.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/access/token_sealer.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// INVALID_LEASE_TOKEN, blaming the first one that is none of ours or another principal's. More
// items than a call may have are left as they are, to be refused by their number.
absl::Status OpenTokens(const access::TokenSeal& seal, v1::AckRequest* request);
absl::Status OpenTokens(const access::TokenSeal& seal, v1::NackRequest* request);
absl::Status OpenTokens(const access::TokenSeal& seal, v1::SettleRequest* request);
absl::Status OpenTokens(const access::TokenSeal& seal, v1::HeartbeatRequest* request);

// The same of one token, which is at `field`.
absl::Status OpenToken(const access::TokenSeal& seal, std::string* token, const Field& field);

void SealTokens(const access::TokenSeal& seal, v1::LeaseResponse* response);

}  // namespace skiplane::rpc
