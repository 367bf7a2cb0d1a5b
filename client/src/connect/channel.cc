#include "client/src/connect/channel.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <utility>

#include "client/src/connect/read_file.h"

namespace skiplane::internal {
namespace {

constexpr int kKeepaliveMs = 30'000;  // the broker permits one per 10 s
constexpr int kKeepaliveTimeoutMs = 10'000;
constexpr int kReconnectFirstMs = 100;
constexpr int kReconnectMaxMs = 2'000;  // gRPC's own 120 s would outlast every lease
// How long a connection may take, whatever the option is called. gRPC's own 20 s are the whole time
// of a call, which then never goes to the broker beside one that is frozen.
constexpr int kConnectMs = 4'000;
constexpr int kMessageBytesMax = 8 << 20;

// A call on a channel that leads nowhere; neither is ever destroyed.
class EndlessUse {
 public:
  EndlessUse() {
    stub_.UnaryCall(&context_, "/nowhere", {}, &nothing_, &answer_, [](const grpc::Status&) {});
  }

 private:
  // Without credentials gRPC makes a channel that fails each call at once and has no connection.
  grpc::GenericStub stub_{grpc::CreateChannel("", nullptr)};
  grpc::ClientContext context_;
  const grpc::Slice empty_;
  const grpc::ByteBuffer nothing_{&empty_, 1};
  grpc::ByteBuffer answer_;
};

// gRPC ends its threads with the last channel that uses them. One that ends beside the process
// frees what OpenSSL's exit handler frees, too. And where a call has the last hold on a channel,
// because its Client is gone, gRPC's callback threads would end in one of themselves, which waits
// for itself and then goes on with what it freed. So all of gRPC stays up once it was used.
void KeepGrpcUp() {
  static const auto* const use = new EndlessUse();
  (void)use;
}

absl::Status ReadPem(const std::string& path, std::string& content) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> read = ReadFile(path);
  if (!read.ok()) return read.status();
  content = *std::move(read);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const TlsOptions& tls) {
  if (!tls.enabled) return grpc::InsecureChannelCredentials();
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError("certificate_file and key_file belong together");
  }
  grpc::SslCredentialsOptions options;
  absl::Status status = ReadPem(tls.ca_file, options.pem_root_certs);
  if (status.ok()) status = ReadPem(tls.certificate_file, options.pem_cert_chain);
  if (status.ok()) status = ReadPem(tls.key_file, options.pem_private_key);
  if (!status.ok()) return status;
  return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> MakeChannel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const TlsOptions& tls) {
  KeepGrpcUp();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  // The attempts are counted in one place, unary_call.h.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetLoadBalancingPolicyName("round_robin");
  if (tls.enabled && !tls.server_name.empty()) {
    arguments.SetSslTargetNameOverride(tls.server_name);
  }
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace skiplane::internal
