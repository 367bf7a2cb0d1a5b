// New TLS files for a server that runs.
#include <atomic>
#include <fstream>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "tests/rpc/front.h"
#include "tests/rpc/serve/tls_client.h"
#include "tests/support/status_matchers.h"

namespace skiplane::rpc {
namespace {

using net::FileText;
using net::MakePair;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::IsOk;

using AdminStub = std::unique_ptr<v1::AdminService::Stub>;

class TlsReload : public ::testing::Test {
 protected:
  void StartFront(const net::TlsFiles& files) {
    ServerOptions options;
    options.tls = files;
    front_ = std::make_unique<Front>(FakeBroker::Behaviour{}, options);
  }

  // Of a connection of its own.
  AdminStub Connect(const grpc::SslCredentialsOptions& ssl) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return v1::AdminService::NewStub(grpc::CreateCustomChannel(
        absl::StrCat("localhost:", front_->server->port()), grpc::SslCredentials(ssl), arguments));
  }

  static grpc::Status Call(const AdminStub& stub) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::GetQueueRequest request;
    request.set_name("mail");
    v1::GetQueueResponse response;
    return stub->GetQueue(&context, request, &response);
  }

  bool Reaches(const grpc::SslCredentialsOptions& ssl) const { return Call(Connect(ssl)).ok(); }

  std::unique_ptr<Front> front_;
};

TEST_F(TlsReload, NewConnectionsSeeTheNewCertificateAndOldOnesLiveOn) {
  net::TlsFiles files = MakePair("server");
  StartFront(files);
  const auto old_trust = ClientOf(files);
  const AdminStub old = Connect(old_trust);
  ASSERT_TRUE(Call(old).ok());
  files = MakePair("server");
  const auto new_trust = ClientOf(files);
  EXPECT_FALSE(Reaches(new_trust));  // not before it is told
  ASSERT_THAT(front_->server->ReloadTls(files), IsOk());
  EXPECT_TRUE(Reaches(new_trust));
  EXPECT_FALSE(Reaches(old_trust));
  EXPECT_TRUE(Call(old).ok());
}

// Callers trust both certificates, as in a rotation that is planned. Each call has a connection of
// its own: its handshake falls at any moment of a reload.
TEST_F(TlsReload, TwentyRotationsUnderLoadFailNoCall) {
  const net::TlsFiles one = MakePair("one");
  const net::TlsFiles other = MakePair("other");
  StartFront(one);
  grpc::SslCredentialsOptions both;
  both.pem_root_certs = absl::StrCat(FileText(one.certificate), FileText(other.certificate));
  std::atomic<bool> is_over = false;
  std::atomic<int> calls = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!is_over) {
        if (!Reaches(both)) ++failed;
        ++calls;
        calls.notify_all();
      }
    });
  }
  for (int rotation = 0; rotation < 20; ++rotation) {
    const int before = calls;
    EXPECT_THAT(front_->server->ReloadTls(rotation % 2 == 0 ? other : one), IsOk());
    for (int seen = calls; seen < before + 2; seen = calls) calls.wait(seen);
  }
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GE(calls, 40);
}

TEST_F(TlsReload, FilesThatAreNotRightChangeNothingAndAreNamed) {
  const net::TlsFiles good = MakePair("server");
  const net::TlsFiles other = MakePair("other");
  StartFront(good);
  const std::string torn = absl::StrCat(good.certificate, ".torn");
  const std::string text = FileText(good.certificate);
  std::ofstream(torn) << text << text.substr(0, text.size() / 2);
  const net::TlsFiles bad[] = {{"/no/such.crt", good.key, ""},
                          {good.certificate, "/no/such.key", ""},
                          {good.certificate, other.key, ""},
                          {torn, good.key, ""},
                          {good.key, good.key, ""}};
  const std::string blamed[] = {"/no/such.crt", "/no/such.key", other.key, torn, good.key};
  for (size_t i = 0; i < std::size(bad); ++i) {
    const absl::Status status = front_->server->ReloadTls(bad[i]);
    EXPECT_THAT(std::string(status.message()), HasSubstr(blamed[i])) << i;
    EXPECT_TRUE(Reaches(ClientOf(good))) << i;
  }
}

TEST_F(TlsReload, FilesThatAnotherPortDoesNotTakeChangeNothing) {
  const net::TlsFiles good = MakePair("server");
  StartFront(good);
  const absl::Status status =
      front_->server->ReloadTls(MakePair("other"), [](const net::TlsIdentity& identity) {
        EXPECT_NE(identity.sha256, "");
        return absl::FailedPreconditionError("not by HTTP");
      });
  EXPECT_EQ(status.message(), "not by HTTP");
  EXPECT_TRUE(Reaches(ClientOf(good)));
}

TEST_F(TlsReload, TheAuthorityOfClientsIsExchanged) {
  net::TlsFiles files = MakePair("server");
  const net::TlsFiles old_client = MakePair("old_client");
  const net::TlsFiles new_client = MakePair("new_client");
  files.client_ca = old_client.certificate;
  StartFront(files);
  EXPECT_TRUE(Reaches(ClientOf(files, &old_client)));
  EXPECT_FALSE(Reaches(ClientOf(files, &new_client)));
  files.client_ca = new_client.certificate;
  ASSERT_THAT(front_->server->ReloadTls(files), IsOk());
  EXPECT_FALSE(Reaches(ClientOf(files, &old_client)));
  EXPECT_TRUE(Reaches(ClientOf(files, &new_client)));
  EXPECT_FALSE(Reaches(ClientOf(files)));  // one is still asked for
}

TEST_F(TlsReload, WhetherThereIsTlsAndWhetherClientsAreAskedStaysAsItWas) {
  net::TlsFiles files = MakePair("server");
  StartFront(files);
  EXPECT_THAT(std::string(front_->server->ReloadTls(std::nullopt).message()),
              HasSubstr("restart"));
  files.client_ca = files.certificate;
  EXPECT_THAT(std::string(front_->server->ReloadTls(files).message()), HasSubstr("restart"));
  files.client_ca.clear();
  EXPECT_TRUE(Reaches(ClientOf(files)));
}

TEST_F(TlsReload, TheLogTellsFingerprintAndExpiryAndWarnsOfAnExpiredCertificate) {
  const net::TlsFiles files = MakePair("server");
  StartFront(files);
  base::FlushLog();
  ::testing::internal::CaptureStderr();
  ASSERT_THAT(front_->server->ReloadTls(files), IsOk());
  ASSERT_THAT(front_->server->ReloadTls(MakePair("server", absl::Seconds(-60))), IsOk());
  base::FlushLog();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::ContainsRegex("info tls_loaded certificate=[^ ]+ sha256=[0-9a-f]+ "
                                            "expires=20[0-9T:+-]+ "));
  EXPECT_THAT(log, HasSubstr("warn tls_expired"));
  EXPECT_THAT(log, Not(HasSubstr("PRIVATE")));
}

}  // namespace
}  // namespace skiplane::rpc
