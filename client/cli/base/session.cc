#include "client/cli/base/session.h"

#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/address.h"
#include "client/src/access.h"

namespace skiplane::cli {
namespace {

ClientOptions ToClientOptions(const GlobalOptions& options) {
  ClientOptions client{.addresses = ParseAddresses(options.broker),
                       .actor = options.actor,
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
  ClientOptions client_options = ToClientOptions(options);
  if (!options.token_file.empty()) {
    std::ifstream file(options.token_file);
    std::string line;
    if (!file.is_open()) return LocalError(absl::StrCat("cannot read ", options.token_file));
    std::getline(file, line);
    client_options.token = std::string(absl::StripAsciiWhitespace(line));  // also of CRLF
    if (client_options.token.empty()) {
      return LocalError(absl::StrCat("no token in the first line of ", options.token_file));
    }
  }
  auto client = Client::Connect(std::move(client_options));
  // What is wrong here was said on the command line.
  if (!client.ok()) return UsageError(client.status().message());
  return Session(options, *std::move(client));
}

}  // namespace skiplane::cli
