// A caller by TLS, which trusts whoever answers.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/net/socket.h"

namespace skiplane::http {

class TlsClient {
 public:
  // Nothing is sent yet.
  explicit TlsClient(net::Socket socket)
      : socket_(std::move(socket)),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        ssl_(SSL_new(context_.get()), SSL_free) {
    SSL_set_fd(ssl_.get(), socket_.fd());
  }

  bool ShakeHands() { return SSL_connect(ssl_.get()) == 1; }

  bool Send(absl::string_view bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }

  // What comes until `end` has come, or the peer ends the connection.
  std::string ReadUntil(absl::string_view end) {
    std::string text;
    char byte = 0;
    while (!absl::EndsWith(text, end) && SSL_read(ssl_.get(), &byte, 1) == 1) text.push_back(byte);
    return text;
  }

  // Whether the peer's next word is that it sends no more: a connection that was only cut off has
  // none.
  bool IsEnded() {
    char byte = 0;
    const int got = SSL_read(ssl_.get(), &byte, 1);
    return got <= 0 && SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  net::Socket socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace skiplane::http
