// The messages of Work and Produce between the wire and the broker, but for what they share with
// calls. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/token_sealer.h"
#include "server/broker/api/open_session.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// What a worker says first. Takes texts out of `hello`. Its queues are those of each lease.
absl::StatusOr<broker::OpenSessionCall> ReadHello(const access::TokenSeal& seal,
                                                  v1::WorkHello* hello);

// INVALID_FIELD unless `number` is larger than `*last`, which it then becomes. `index` is its place
// in `list`.
absl::Status CheckNext(int64_t number, absl::string_view list, size_t index, int64_t* last);

// As a call would have been refused, in less than a kilobyte.
void WriteStreamRefusal(const absl::Status& refusal, v1::Refusal* wire);

void WriteWelcome(const broker::OpenSessionAnswer& answer, v1::WorkWelcome* welcome);

}  // namespace skiplane::rpc
