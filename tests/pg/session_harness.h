// A database of the test's own and sessions on it. Not thread-safe.
#pragma once

#include <signal.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/pg/session.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {

// A process that does not answer for as long as this lives.
class Frozen {
 public:
  explicit Frozen(pid_t pid) : pid_(pid) { Require(kill(pid_, SIGSTOP) == 0, "cannot stop it"); }
  ~Frozen() { kill(pid_, SIGCONT); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  const pid_t pid_;
};

class SessionHarness : public ::testing::Test {
 protected:
  pg::ConnectOptions Options() const { return {.uri = database_.uri()}; }

  std::unique_ptr<pg::Session> Open() const { return Open(Options()); }
  std::unique_ptr<pg::Session> Open(const pg::ConnectOptions& options) const {
    return Required(pg::Session::Open(options, nullptr));
  }

  // Ends that backend and returns when it is gone.
  void Terminate(int backend_pid) const {
    database_.Run(absl::StrCat("SELECT pg_terminate_backend(", backend_pid, ", 10000)"));
  }

  Database database_;
};

}  // namespace skiplane::testing
