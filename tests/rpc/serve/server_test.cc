#include "server/rpc/serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/rpc/front.h"
#include "tests/rpc/serve/raw_stream.h"
#include "tests/net/socket.h"

namespace skiplane::rpc {
namespace {

using ::testing::HasSubstr;

TEST(Server, TellsThePortThatItTook) {
  Front front;
  EXPECT_GT(front.server->port(), 0);
}

TEST(Server, DoesNotShareItsPortWithAnother) {
  Front front;
  ServerOptions options;
  options.listen = front.address();
  const auto second = Server::Start(options, front.broker, front.metrics);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(front.address()));
}

// A request for the list of services; the reply names them in clear text.
constexpr char kListServices[] = "\x3a\x01*";
constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

TEST(Server, ReflectsItsServicesWhenAsked) {
  ServerOptions options;
  options.reflection = true;
  Front front({}, options);
  RawStream stream(front.channel, kReflection, kListServices);
  const std::optional<std::string> reply = stream.Read();
  ASSERT_TRUE(reply.has_value());
  EXPECT_THAT(*reply, HasSubstr("skiplane.v1.BrokerService"));
  EXPECT_THAT(*reply, HasSubstr("skiplane.v1.AdminService"));
}

TEST(Server, DoesNotReflectUnlessAsked) {
  Front front;
  RawStream stream(front.channel, kReflection, kListServices);
  EXPECT_EQ(stream.Read(), std::nullopt);
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST(Server, RefusesCompressedRequests) {
  Front front;
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.add_tasks()->set_payload(std::string(100000, 'x'));
  v1::EnqueueResponse response;
  EXPECT_EQ(front.stub->Enqueue(&context, request, &response).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(front.broker.calls(), 0);
}

TEST(Server, ClosesAConnectionThatNeverShakesHands) {
  ServerOptions options;
  options.limits.handshake_timeout = absl::Milliseconds(100);
  Front front({}, options);
  const net::Socket silent = net::Socket::ConnectedTo(front.server->port());
  char buffer[256];
  ssize_t got = 0;
  do {
    got = recv(silent.fd(), buffer, sizeof(buffer), 0);  // the server's own settings come first
  } while (got > 0);
  EXPECT_EQ(got, 0);
}

TEST(Server, TurnsConnectionsAboveItsLimitAwayAndServesTheOthers) {
  ServerOptions options;
  options.limits.connections = 1;
  Front front({}, options);
  EXPECT_EQ(HealthOf(front.channel, "liveness"), 1);
  const net::Socket other = net::Socket::ConnectedTo(front.server->port());
  EXPECT_TRUE(other.IsTurnedAway());
  EXPECT_EQ(HealthOf(front.channel, "liveness"), 1);
}

TEST(Server, TellsTheBrokerTheTrueAddressOfACaller) {
  Front front;
  v1::PauseQueueRequest request;
  request.set_name("mail");
  v1::PauseQueueResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_THAT(front.broker.pause.origin.actor, ::testing::StartsWith("ipv4:127.0.0.1:"));
}

TEST(Server, ServesIpv6) {
  ServerOptions options;
  options.listen = "[::1]:0";
  FakeBroker broker;
  metrics::Metrics metrics("test", "test");
  const auto server = Server::Start(options, broker, metrics);
  if (!server.ok()) GTEST_SKIP() << "this machine has no IPv6: " << server.status();
  const auto channel = grpc::CreateChannel(absl::StrCat("[::1]:", (*server)->port()),
                                           grpc::InsecureChannelCredentials());
  EXPECT_EQ(HealthOf(channel, "liveness"), 1);
}

TEST(Server, CountsCallsByMethodAndStatus) {
  Front front;
  v1::GetQueueRequest request;
  v1::GetQueueResponse response;
  EXPECT_FALSE(front.Call(request, &response).ok());
  front.server->Drain(absl::Minutes(1));
  EXPECT_THAT(front.metrics.Text(),
              HasSubstr("grpc_server_call_duration_seconds_count{grpc_method="
                        "\"skiplane.v1.AdminService/GetQueue\","
                        "grpc_status=\"INVALID_ARGUMENT\"} 1"));
}

}  // namespace
}  // namespace skiplane::rpc
