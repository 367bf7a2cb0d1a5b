// The bytes of one connection, in the clear or by TLS. One read and one write may be under way at
// once; each ends before the object may be destroyed. Callbacks come on the executor of the
// connection, which is also where the object is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::http {

class Transport {
 public:
  // `bytes` is 0 when the other end has closed, or the connection is broken.
  using Done = std::function<void(size_t bytes)>;

  // `fd` belongs to the object from now on. In the clear if `context` is null. Null if there is no
  // memory for another connection; `fd` is closed then.
  static std::unique_ptr<Transport> Of(boost::asio::io_context& io, int fd,
                                       std::shared_ptr<boost::asio::ssl::context> context);
  virtual ~Transport() = default;

  virtual boost::asio::any_io_executor executor() = 0;

  // To be called first.
  virtual void ShakeHands(std::function<void(bool good)> done) = 0;
  // The name in the other end's certificate; empty if it has shown none.
  virtual std::string PeerName() = 0;
  // When that certificate expires; never if it has shown none.
  virtual absl::Time PeerExpiry() = 0;

  virtual void Read(char* bytes, size_t size, Done done) = 0;
  // As many as are taken at once; at least one.
  virtual void Write(absl::string_view bytes, Done done) = 0;

  // Of what was written: the bytes that the other end has not got yet.
  virtual int64_t Unacknowledged() = 0;

  // The other end sees the end of what we send. It may go on sending. `done` is called when that
  // is through; by TLS that may need an answer.
  virtual void EndSending(std::function<void()> done) = 0;
  // Whether nothing can be read any more after that.
  virtual bool EndsBoth() const = 0;
  // What is under way ends.
  virtual void Close() = 0;
};

}  // namespace skiplane::http
