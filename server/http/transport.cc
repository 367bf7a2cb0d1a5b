#include "server/http/transport.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include "server/http/peer.h"
#include "server/net/handshake_log.h"
#include "server/net/socket_address.h"

namespace skiplane::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A peer whose machine or network died is noticed within a minute and a half, while nothing is
// sent, and within half a minute while something is.
void SetOptions(int fd) {
  const auto set = [fd](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);  // also if the peer takes nothing: see Limits::write
}

// Closed if the kernel has no room to watch it.
tcp::socket Take(asio::io_context& io, int fd) {
  SetOptions(fd);
  tcp::socket socket(asio::make_strand(io));
  const bool is_ipv6 = net::SocketAddress::OwnOf(fd).family() == AF_INET6;
  error_code error;
  socket.assign(is_ipv6 ? tcp::v6() : tcp::v4(), fd, error);
  if (error) close(fd);
  return socket;
}

// Reading and writing are the same for both; `Stream` is the socket, or TLS on it.
template <typename Stream>
class StreamTransport : public Transport {
 public:
  template <typename... Arguments>
  explicit StreamTransport(Arguments&&... arguments)
      : stream_(std::forward<Arguments>(arguments)...) {}

  asio::any_io_executor executor() override { return stream_.get_executor(); }

  void Read(char* bytes, size_t size, Done done) override {
    stream_.async_read_some(asio::buffer(bytes, size),
                            [done = std::move(done)](const error_code& error, size_t read) {
                              done(error ? 0 : read);
                            });
  }

  void Write(absl::string_view bytes, Done done) override {
    stream_.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                             [done = std::move(done)](const error_code& error, size_t written) {
                               done(error ? 0 : written);
                             });
  }

  int64_t Unacknowledged() override {
    int bytes = 0;
    ioctl(stream_.lowest_layer().native_handle(), SIOCOUTQ, &bytes);
    return bytes;
  }

  void Close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 protected:
  Stream stream_;
};

class PlainTransport final : public StreamTransport<tcp::socket> {
 public:
  explicit PlainTransport(tcp::socket socket) : StreamTransport(std::move(socket)) {}

  void ShakeHands(std::function<void(bool)> done) override {
    asio::post(executor(), [done = std::move(done)] { done(true); });
  }
  std::string PeerName() override { return ""; }
  absl::Time PeerExpiry() override { return absl::InfiniteFuture(); }

  void EndSending(std::function<void()> done) override {
    error_code ignored;
    stream_.shutdown(tcp::socket::shutdown_send, ignored);
    asio::post(executor(), std::move(done));
  }
  bool EndsBoth() const override { return false; }
};

class TlsTransport final : public StreamTransport<asio::ssl::stream<tcp::socket>> {
 public:
  TlsTransport(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : StreamTransport(std::move(socket), *context), context_(std::move(context)) {}

  void ShakeHands(std::function<void(bool)> done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [this, done = std::move(done)](const error_code& error) {
                              LogIfRefused(error);
                              done(!error);
                            });
  }
  std::string PeerName() override { return NameOfPeer(stream_.native_handle()); }
  absl::Time PeerExpiry() override { return ExpiryOfPeer(stream_.native_handle()); }

  // By TLS's own word, so that an answer without a length can be told from one that was cut off.
  void EndSending(std::function<void()> done) override {
    stream_.async_shutdown([done = std::move(done)](const error_code& /*error*/) { done(); });
  }
  // What the other end sends then breaks the shutdown.
  bool EndsBoth() const override { return true; }

 private:
  void LogIfRefused(const error_code& error) {
    if (error.category() != asio::error::get_ssl_category()) return;
    const long found = SSL_get_verify_result(stream_.native_handle());
    if (found == X509_V_OK && !net::IsAboutCertificate(error.message())) return;
    const auto peer = net::SocketAddress::PeerOf(stream_.next_layer().native_handle());
    net::LogRefusedCertificate(
        AddressOfPeer(peer),
        found == X509_V_OK ? error.message() : X509_verify_cert_error_string(found));
  }

  const std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace

std::unique_ptr<Transport> Transport::Of(asio::io_context& io, int fd,
                                         std::shared_ptr<asio::ssl::context> context) {
  tcp::socket socket = Take(io, fd);
  if (!socket.is_open()) return nullptr;
  if (context == nullptr) return std::make_unique<PlainTransport>(std::move(socket));
  try {
    return std::make_unique<TlsTransport>(std::move(socket), std::move(context));
  } catch (const boost::system::system_error&) {
    return nullptr;
  }
}

}  // namespace skiplane::http
