// A private PostgreSQL for tests: one per test program, or the one that tests/run started for all
// of them (environment variable SKIPLANE_TEST_PG holds its folder). It listens on a unix socket in
// a folder of its own, and is gone, process and folder, when the test program ends, also when that
// crashes or is killed. Durable as in production unless a test asks otherwise; the folder is in
// memory (/dev/shm) where there are 4 GiB of room, else in /tmp: fsync stays on, but costs little.
//
// Not thread-safe, apart from uri(). Failures to start or stop end the test program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/support/process.h"

namespace skiplane::testing {

struct ClusterOptions {
  // Off is faster, and the broker refuses it unless told otherwise.
  bool fsync = true;
  // Further settings, as "name=value".
  std::vector<std::string> settings = {};
  // Keeps a copy of the data as initdb made it, for the clusters of the tests below this one.
  bool keeps_pristine = false;
};

class Cluster {
 public:
  // The cluster of this test program; started or found at its first use.
  static Cluster& Shared();

  // A cluster that no one else uses: for tests that stop or kill it. Runs when this returns.
  explicit Cluster(ClusterOptions options = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // A libpq URI of a database in this cluster, as its superuser unless another user is named.
  std::string uri(absl::string_view database, absl::string_view user = "skiplane") const;

  // Holds the socket and, where the cluster is ours, the data.
  const std::string& folder() const { return folder_; }

  // The rest is for clusters of one's own. Start() returns when connections are accepted, after
  // crash recovery; those that end it return when all its processes have gone.
  void Start();
  void Stop();             // fast shutdown: breaks connections, writes a checkpoint
  void StopImmediately();  // as in a crash of the server, orderly for its processes
  void Kill();             // SIGKILL of the postmaster; its processes notice and end, and may
                           // finish the statement that they work on before
  void Freeze();           // SIGSTOP of the postmaster: no new connections, old ones go on
  void Thaw();
  pid_t postmaster() const { return postmaster_->pid(); }
  // What PostgreSQL logged since the last Start().
  std::string log() const { return postmaster_->output(); }

 private:
  // One that somebody else started, in `folder`.
  struct Elsewhere {
    std::string folder;
  };
  explicit Cluster(Elsewhere elsewhere);

  void MakeData();
  void RunAsOwner(std::vector<std::string> argv);
  void StartKeeper();
  void End(int signal);

  ClusterOptions options_;
  std::string folder_;
  std::string binaries_;
  std::optional<app::SystemUser> user_;
  int keeper_fd_ = -1;
  std::optional<app::Child> keeper_;
  std::unique_ptr<Process> postmaster_;
};

}  // namespace skiplane::testing
