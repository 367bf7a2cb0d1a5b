// A broker with its embedded PostgreSQL, in a folder that goes when the object does: the thing that
// is measured. Further brokers may join it. Failures end the program with what was said.
// Not thread-safe.
#pragma once

#include <grpcpp/security/credentials.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/secured.h"
#include "tests/support/process.h"

namespace skiplane::bench {

class BrokerRun {
 public:
  // Runs the program `broker`; its data is in a new folder below `directory`. PostgreSQL is checked
  // to be durable, and made to have written-off WAL files at hand, as after some hours of work.
  // `is_secured`: callers need what credentials() says.
  BrokerRun(const std::string& broker, const std::string& directory, bool is_secured = false);
  ~BrokerRun();
  BrokerRun(const BrokerRun&) = delete;
  BrokerRun& operator=(const BrokerRun&) = delete;

  // Another broker on the same PostgreSQL.
  void AddBroker();

  // Stops the only broker and PostgreSQL, and starts them again: for settings that need it.
  void Restart();

  // PostgreSQL's own settings of autovacuum, instead of those that the broker gives it. What
  // remains are the storage parameters of the broker's tables.
  void UseOwnAutovacuum();

  // Nothing of all brokers runs until Resume, while PostgreSQL goes on.
  void Pause();
  void Resume();

  std::shared_ptr<grpc::ChannelCredentials> credentials() const;

  // "127.0.0.1:PORT" of each broker.
  const std::vector<std::string>& addresses() const { return addresses_; }
  pid_t pid() const { return processes_.front()->pid(); }
  std::vector<pid_t> pids() const;
  pid_t postmaster() const { return postmaster_; }

  // Of PostgreSQL, as its superuser.
  std::string uri() const;

  // Runs SQL and returns the first column of the first row of the last result, or "".
  std::string Sql(const std::string& text) const;
  int64_t SqlNumber(const std::string& text) const;

  // Bytes of WAL written since the cluster began.
  int64_t WalBytes() const;

 private:
  void StartFirst();
  std::string Start(std::vector<std::string> flags);
  void FillWalFolder() const;

  const std::string broker_;
  std::string folder_;
  std::unique_ptr<Secured> secured_;
  std::vector<std::unique_ptr<testing::Process>> processes_;
  std::vector<std::string> addresses_;
  pid_t postmaster_ = 0;
  std::string socket_folder_;
};

}  // namespace skiplane::bench
