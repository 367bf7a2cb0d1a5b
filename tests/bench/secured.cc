#include "tests/bench/secured.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/access/new_token.h"
#include "tests/net/certificate.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

// Rules of many teams: what is looked for stands behind others.
constexpr int kOtherRules = 100;

std::string WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  testing::Require(!file.fail(), absl::StrCat("cannot write ", path));
  return path;
}

std::string Rules() {
  std::string rules;
  for (int team = 0; team < kOtherRules; ++team) {
    absl::StrAppend(&rules, "allow group:team-", team, " to enqueue, lease on team-", team, "-*\n");
  }
  return absl::StrCat(rules, "allow group:bench to all on *\n");
}

}  // namespace

Secured::Secured(const std::string& folder) {
  const net::TlsFiles server = net::MakePair("bench_server");
  const net::TlsFiles client = net::MakePair("bench_client");
  const auto token = access::MakeToken("bench", {"bench"});
  testing::Require(token.ok(), token.status().ToString());
  flags_ = {"--tls-cert",      server.certificate,
            "--tls-key",       server.key,
            "--tls-client-ca", client.certificate,
            "--token-file",    WriteFile(folder + "/tokens", token->line + "\n"),
            "--rules-file",    WriteFile(folder + "/rules", Rules())};
  credentials_ = grpc::CompositeChannelCredentials(
      grpc::SslCredentials({net::FileText(server.certificate), net::FileText(client.key),
                            net::FileText(client.certificate)}),
      grpc::AccessTokenCredentials(token->token));
}

}  // namespace skiplane::bench
