#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/rpc/serve/port_check.h"
#include "tests/rpc/front.h"
#include "tests/rpc/serve/tls_client.h"

namespace skiplane::rpc {
namespace {

using net::FileText;
using net::MakePair;
using ::testing::HasSubstr;

ServerOptions WithTls(const net::TlsFiles& files) {
  ServerOptions options;
  options.tls = files;
  return options;
}

grpc::Status GetQueue(const Front& front, const grpc::SslCredentialsOptions& ssl) {
  const auto channel = grpc::CreateChannel(absl::StrCat("localhost:", front.server->port()),
                                           grpc::SslCredentials(ssl));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v1::GetQueueRequest request;
  request.set_name("mail");
  v1::GetQueueResponse response;
  return v1::AdminService::NewStub(channel)->GetQueue(&context, request, &response);
}

TEST(Tls, AnswersThoseWhoTrustItsCertificate) {
  const net::TlsFiles files = MakePair("server");
  Front front({}, WithTls(files));
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = FileText(files.certificate);
  const grpc::Status status = GetQueue(front, ssl);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST(Tls, DoesNotSpeakInTheClear) {
  Front front({}, WithTls(MakePair("server")));
  v1::GetQueueRequest request;
  request.set_name("mail");
  v1::GetQueueResponse response;
  EXPECT_EQ(front.Call(request, &response).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(front.broker.calls(), 0);
}

TEST(Tls, WantsTheClientsCertificateWhenGivenAClientCa) {
  net::TlsFiles files = MakePair("server");
  const net::TlsFiles client = MakePair("client");
  files.client_ca = client.certificate;
  Front front({}, WithTls(files));
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = FileText(files.certificate);
  EXPECT_EQ(GetQueue(front, ssl).error_code(), grpc::StatusCode::UNAVAILABLE);
  ssl.pem_cert_chain = FileText(client.certificate);
  ssl.pem_private_key = FileText(client.key);
  const grpc::Status status = GetQueue(front, ssl);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

// Whoever has a certificate may say any name; the audit once kept nothing else.
TEST(Tls, AChangeIsNotedWithTheCertificateBesideTheNameThatItsCallerGave) {
  net::TlsFiles files = MakePair("server");
  const net::TlsFiles client = MakePair("client");
  files.client_ca = client.certificate;
  Front front({}, WithTls(files));
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = FileText(files.certificate);
  ssl.pem_cert_chain = FileText(client.certificate);
  ssl.pem_private_key = FileText(client.key);
  const auto channel = grpc::CreateChannel(absl::StrCat("localhost:", front.server->port()),
                                           grpc::SslCredentials(ssl));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  context.AddMetadata("skiplane-actor", "root-of-all");
  v1::CreateQueueRequest request;
  request.set_name("mail");
  v1::CreateQueueResponse response;
  ASSERT_TRUE(v1::AdminService::NewStub(channel)->CreateQueue(&context, request, &response).ok());
  EXPECT_EQ(front.broker.create.origin.actor, "root-of-all");
  EXPECT_EQ(front.broker.create.origin.caller, "localhost");
}

// The socket of this process that listens on `port`.
int ListeningSocket(int port) {
  for (int fd = 0; fd < 1024; ++fd) {
    int listens = 0;
    socklen_t length = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) continue;
    sockaddr_in address{};
    length = sizeof(address);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    if (ntohs(address.sin_port) == port) return fd;
  }
  return -1;
}

TEST(Tls, AnswersAPortCheckThatHasNoCertificate) {
  net::TlsFiles files = MakePair("server");
  files.client_ca = files.certificate;
  Front front({}, WithTls(files));
  PortCheck::Options options;
  options.listen_fd = ListeningSocket(front.server->port());
  options.tls = true;
  options.every = absl::Milliseconds(1);
  options.patience = absl::Minutes(1);
  options.failures_max = 1;
  std::atomic<int> begun = 0;
  std::atomic<int> told = 0;
  std::promise<void> enough;
  auto check = std::make_unique<PortCheck>(options, PortCheck::Listener{
                                                        [&](int port) {
                                                          if (port != 0 && ++begun == 5) {
                                                            enough.set_value();
                                                          }
                                                        },
                                                        [&](bool) { ++told; }});
  EXPECT_EQ(enough.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  check.reset();
  EXPECT_EQ(told, 0);
}

std::string StartError(const net::TlsFiles& files) {
  FakeBroker broker;
  metrics::Metrics metrics("test", "test");
  ServerOptions options = WithTls(files);
  options.listen = "127.0.0.1:0";
  return std::string(Server::Start(options, broker, metrics).status().message());
}

TEST(Tls, NamesTheFileThatIsWrong) {
  const net::TlsFiles good = MakePair("server");
  const net::TlsFiles other = MakePair("other");
  EXPECT_THAT(StartError({good.certificate, "/no/such.key", ""}), HasSubstr("/no/such.key"));
  EXPECT_THAT(StartError({"/no/such.crt", good.key, ""}), HasSubstr("/no/such.crt"));
  EXPECT_THAT(StartError({good.certificate, other.key, ""}), HasSubstr(other.key));
  EXPECT_THAT(StartError({good.key, good.key, ""}), HasSubstr("no certificate"));
  EXPECT_THAT(StartError({good.certificate, good.key, "/no/ca.crt"}), HasSubstr("/no/ca.crt"));
  EXPECT_THAT(StartError({good.certificate, good.key, good.key}), HasSubstr("no certificates of"));
}

}  // namespace
}  // namespace skiplane::rpc
