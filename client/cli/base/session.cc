#include "client/cli/base/session.h"

#include <string>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/tls_files.h"
#include "client/cli/text/address.h"
#include "client/src/access.h"

namespace skiplane::cli {
namespace {

ClientOptions ToClientOptions(const GlobalOptions& options) {
  ClientOptions client{.addresses = ParseAddresses(options.broker),
                       .actor = options.actor,
                       .token_file = options.token_file,
                       .call_timeout = options.timeout,
                       .pass_encoded = true};  // to the programs of `skiplane work`
  client.tls.enabled = options.tls || !options.tls_ca.empty() || !options.tls_cert.empty();
  client.tls.ca_file = options.tls_ca;
  client.tls.certificate_file = options.tls_cert;
  client.tls.key_file = options.tls_key;
  client.tls.server_name = options.tls_server_name;
  return client;
}

}  // namespace

Session::Session(GlobalOptions options, Client client)
    : options_(std::move(options)),
      client_(std::move(client)),
      connection_(internal::Access::ConnectionOf(client_)) {}

absl::StatusOr<Session> Session::Open(const GlobalOptions& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return UsageError("--tls-cert and --tls-key belong together");
  }
  if (const absl::Status status = CheckTlsFiles(options); !status.ok()) return status;
  auto client = Client::Connect(ToClientOptions(options));
  if (client.ok()) return Session(options, *std::move(client));
  // What else is wrong was said on the command line.
  return absl::IsInvalidArgument(client.status()) ? UsageError(client.status().message())
                                                  : LocalError(client.status().message());
}

absl::StatusOr<v1::Queue> Session::GetQueue(const std::string& name) {
  v1::GetQueueRequest request;
  request.set_name(name);
  auto answer = Call<v1::GetQueueRequest, v1::GetQueueResponse>(std::move(request),
                                                                &internal::AdminMethods::GetQueue);
  if (!answer.ok()) return answer.status();
  return std::move(*answer->mutable_queue());
}

}  // namespace skiplane::cli
