// The messages of Work and Produce between the wire and the broker, but for what they share with
// calls. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/token_sealer.h"
#include "server/broker/api/open_session.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// What a worker says first. Takes texts out of `hello`. Its queues are those of each lease.
absl::StatusOr<broker::OpenSessionCall> ReadHello(const access::TokenSeal& seal,
                                                  v1::WorkHello* hello);

// INVALID_FIELD on `field` unless `number` is larger than `*last`, which it then becomes.
absl::Status CheckNext(int64_t number, const Field& field, int64_t* last);

// As a call would have been refused, in less than a kilobyte.
void WriteStreamRefusal(const absl::Status& refusal, v1::Refusal* wire);

void WriteWelcome(const broker::OpenSessionAnswer& answer, v1::WorkWelcome* welcome);

}  // namespace skiplane::rpc
