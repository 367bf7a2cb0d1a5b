// What TLS shows to new connections and asks of them. The newest files count; a connection that
// stands keeps what it began with. Thread-safe.
#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/net/tls_files.h"

namespace skiplane::http {

class TlsContext {
 public:
  // FAILED_PRECONDITION if OpenSSL does not take what ReadTlsFiles() did.
  absl::Status Replace(const net::TlsIdentity& identity);

  // Null before the first Replace(): no TLS.
  std::shared_ptr<boost::asio::ssl::context> Get();

 private:
  base::Mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::http
