#include "server/rpc/serve/port_check.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/log.h"

namespace skiplane::rpc {
namespace {

// HTTP/2: the client's preface and empty settings.
std::string PlainHello() {
  return std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string("\0\0\0\4\0\0\0\0\0", 9);
}

std::string TlsHello() {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
  const unsigned char h2[] = {2, 'h', '2'};
  SSL_set_alpn_protos(ssl.get(), h2, sizeof(h2));
  BIO* const output = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), output);
  SSL_connect(ssl.get());  // writes its first message and wants an answer
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(output, &bytes);
  return {bytes, static_cast<size_t>(std::max(size, 0L))};
}

// Where to reach a socket that listens on any address: over IPv4, which both kinds of "any" take.
net::SocketAddress TargetOf(int listen_fd) {
  const net::SocketAddress own = net::SocketAddress::OwnOf(listen_fd);
  return own.IsAny() ? net::SocketAddress::LoopbackIpv4(own.port()) : own;
}

// Takes a free port of any address, so that it is known before the server sees the connection.
int BindToFreePort(int fd, sa_family_t family) {
  const net::SocketAddress any = net::SocketAddress::Any(family, 0);
  return bind(fd, any.get(), any.length()) == 0 ? net::SocketAddress::OwnOf(fd).port() : 0;
}

std::string Failed(absl::string_view step) {
  return absl::StrCat(step, ": ", std::strerror(errno));
}

}  // namespace

PortCheck::PortCheck(const Options& options, Listener listener)
    : options_(options),
      listener_(std::move(listener)),
      hello_(options.tls ? TlsHello() : PlainHello()),
      target_(TargetOf(options.listen_fd)),
      end_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { Run(); });
}

PortCheck::~PortCheck() {
  is_ended_ = true;
  eventfd_write(end_fd_, 1);
  thread_.join();
  close(end_fd_);
}

void PortCheck::Run() {
  while (!is_ended_) {
    const std::string error = Check();
    if (is_ended_) return;
    Note(error);
    Await(-1, 0, absl::Now() + (error.empty() ? options_.every : options_.after_failure));
  }
}

void PortCheck::Note(const std::string& error) {
  const bool answered = failures_ < options_.failures_max;
  failures_ = error.empty() ? 0 : std::min(failures_ + 1, options_.failures_max);
  const bool answers = failures_ < options_.failures_max;
  if (answers == answered) return;
  if (answers) {
    base::Log(base::LogLevel::kInfo, "port_answers");
  } else {
    base::Log(base::LogLevel::kError, "port_silent",
              {{"error", error},
               {"why", "liveness is NOT_SERVING until new connections are answered again"}});
  }
  listener_.tell(answers);
}

std::string PortCheck::Check() {
  const int fd = socket(target_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("socket");
  listener_.expect(BindToFreePort(fd, target_.family()));
  std::string error = Converse(fd);
  listener_.expect(0);
  close(fd);
  return error;
}

std::string PortCheck::Converse(int fd) {
  const absl::Time deadline = absl::Now() + options_.patience;
  if (connect(fd, target_.get(), target_.length()) != 0 && errno != EINPROGRESS) {
    return Failed("connect");
  }
  if (!Await(fd, POLLOUT, deadline)) return "connect: no answer in time";
  if (send(fd, hello_.data(), hello_.size(), MSG_NOSIGNAL) < 0) return Failed("send");
  if (!Await(fd, POLLIN, deadline)) return "no answer in time";
  char byte = 0;
  const ssize_t got = recv(fd, &byte, 1, 0);
  if (got < 0) return Failed("recv");
  return got == 0 ? "closed without an answer" : "";
}

bool PortCheck::Await(int fd, short events, absl::Time deadline) const {
  pollfd both[] = {{end_fd_, POLLIN, 0}, {fd, events, 0}};
  const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
  const int ready = poll(both, 2, static_cast<int>(absl::ToInt64Milliseconds(left)));
  return ready > 0 && !is_ended_ && both[1].revents != 0;
}

}  // namespace skiplane::rpc
