// A server of HTTP with a handler of the test.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/http/server.h"
#include "tests/http/echo.h"
#include "tests/metrics/page.h"
#include "tests/net/socket.h"
#include "tests/support/require.h"

namespace skiplane::http {

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() { limits_.address_share = 100; }  // all callers are at one

  void Start(const std::optional<net::TlsIdentity>& identity = std::nullopt) {
    server_ = testing::Required(
        Server::Start(testing::Required(net::ListenSockets::Bind("127.0.0.1:0")), identity,
                      limits_, echo_, metrics_));
  }

  net::Socket Connect() const { return net::Socket::ConnectedTo(server_->port()); }

  static std::string Post(absl::string_view body, absl::string_view path = "/") {
    return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(),
                        "\r\n\r\n", body);
  }

  static std::string ReadAnswer(const net::Socket& socket, absl::string_view body) {
    return socket.ReadUntil(absl::StrCat("\r\n\r\n", body));
  }

  // Of the answer to `request` on a connection of its own; 0 if there is none.
  int StatusOf(absl::string_view request) const {
    const net::Socket socket = Connect();
    socket.Send(request);
    const std::string line = socket.ReadUntil("\r\n");
    int status = 0;
    return line.size() > 12 && absl::SimpleAtoi(line.substr(9, 3), &status) ? status : 0;
  }
  void AwaitStatus(int status, absl::string_view request) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (StatusOf(request) != status) {
      testing::Require(std::chrono::steady_clock::now() < end, "it does not come");
    }
  }

  // Until so many are open.
  void AwaitConnections(int count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const auto open = [this] {
      return metrics::ParsePage(metrics_.Text()).Value("skiplane_connections{port=\"http\"}");
    };
    while (open() != count) {
      testing::Require(std::chrono::steady_clock::now() < end, "they do not end");
    }
  }

  Limits limits_;
  metrics::Metrics metrics_{"test", "test"};
  Echo echo_;
  std::unique_ptr<Server> server_;
};

}  // namespace skiplane::http
