// A broker with its embedded PostgreSQL, in a folder that goes when the object does: the thing that
// is measured. Failures to start end the program with what the broker said. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/process.h"

namespace skiplane::bench {

class BrokerRun {
 public:
  // Runs the program `broker`; its data is in a new folder below `directory`.
  BrokerRun(const std::string& broker, const std::string& directory);
  ~BrokerRun();
  BrokerRun(const BrokerRun&) = delete;
  BrokerRun& operator=(const BrokerRun&) = delete;

  // "127.0.0.1:PORT"
  const std::string& address() const { return address_; }
  pid_t pid() const { return process_->pid(); }
  pid_t postmaster() const { return postmaster_; }

  // Bytes of WAL written since the cluster began.
  int64_t WalBytes() const;

 private:
  std::string folder_;
  std::unique_ptr<testing::Process> process_;
  std::string address_;
  pid_t postmaster_ = 0;
  std::string socket_folder_;
};

}  // namespace skiplane::bench
