// What a connection sends, piece after piece. A piece is held, and counted, until the kernel has
// all of it. Used on the executor of the transport only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "absl/time/time.h"
#include "server/http/byte_budget.h"
#include "server/http/transport.h"

namespace skiplane::http {

class Writer {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // Keeps the owner, the writer and the transport while a piece is on its way.
    virtual std::shared_ptr<Owner> Keep() = 0;
    virtual void OnAllWritten() = 0;
    // The connection is broken, or the other end takes nothing.
    virtual void OnWriteFailed() = 0;
  };

  // `patience`: how long the other end may take nothing.
  Writer(Owner& owner, Transport& transport, ByteBudget::Account& answers, absl::Duration patience);

  // `held` bytes are given back to the account once the piece is gone.
  void Write(std::string piece, int64_t held);
  bool is_idle() const { return pieces_.empty(); }

  // Nothing is told after this.
  void Close();

 private:
  struct Piece {
    std::string bytes;
    int64_t held;
  };

  void WriteNext();
  void OnWritten(size_t bytes);
  void Drop();
  void AwaitProgress();
  void OnTimeOut();

  Owner& owner_;
  Transport& transport_;
  ByteBudget::Account& answers_;
  const absl::Duration patience_;
  boost::asio::steady_timer timer_;
  int64_t timer_round_ = 0;
  std::deque<Piece> pieces_;
  size_t written_ = 0;  // of the first
  int64_t unacknowledged_ = 0;
  bool is_writing_ = false;
  bool is_closed_ = false;
};

}  // namespace skiplane::http
