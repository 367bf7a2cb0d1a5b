#include "server/model/lease.h"

#include <unistd.h>

#include <cstdlib>

namespace skiplane::model {

SessionId NewSessionId() {
  SessionId session;
  // A guessable session would let strangers settle leases: better no process than such a one.
  if (getentropy(session.data(), session.size()) != 0) std::abort();
  return session;
}

}  // namespace skiplane::model
