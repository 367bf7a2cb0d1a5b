#include "server/rpc/serve/server_limits.h"

#include <algorithm>

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>

namespace skiplane::rpc {
namespace {

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

constexpr int kReadBytesMax = 32 << 10;  // gRPC's own is 4 MiB: 25,000 resets

// The pair of what the clients do: they ping every 30 s, also while they wait for a Lease.
void ApplyKeepalive(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10000);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

}  // namespace

void ApplyLimits(const ServerLimits& limits, grpc::ServerBuilder* builder) {
  // A request above kRequestBytesMax is refused by us, with a reason. A limit here would not spare
  // memory: gRPC compares a message with it when it has all of it. What bounds memory is the quota,
  // which resets a stream that would exceed it.
  builder->SetMaxReceiveMessageSize(-1);
  grpc::ResourceQuota quota("skiplane");
  builder->SetResourceQuota(quota.Resize(limits.memory_bytes));
  // The broker bounds what it leases; a reply that exists must be sent, or its leases are lost.
  builder->SetMaxSendMessageSize(-1);
  builder->AddChannelArgument(
      GRPC_ARG_MAX_CONCURRENT_STREAMS,
      std::min(limits.waiting_calls, limits.waiting_calls_per_connection) +
          model::kStreamsBesideParked);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              Milliseconds(limits.handshake_timeout));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                              Milliseconds(limits.connection_age));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              Milliseconds(limits.connection_age_grace));
  // No compression: a small request could otherwise unpack to a large one before it is measured.
  builder->AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1);
  // What was read is served before anybody can cut its connection.
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytesMax);
  ApplyKeepalive(builder);
}

}  // namespace skiplane::rpc
