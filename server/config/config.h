// What skiplaned was told to do: one value, read once at the start from flags, the environment and
// a file, checked as a whole, and never changed.
//
// A flag overrides the environment (SKIPLANE_LISTEN for --listen, and so on), which overrides the
// file (--config, lines as "listen = 127.0.0.1:7070").
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/log.h"
#include "server/model/limits.h"

namespace skiplane::config {

enum class Command {
  kServe,      // run the broker
  kMigrate,    // apply the migrations and end
  kMakeToken,  // print a bearer token and end
  kCheckConfig,  // read the settings and the files that they name, and end
  kDump,         // write what the database holds to a file and end
  kRestore,      // the other way round
  kDoctor,       // look at the database and the machine and end
};

struct Tls {
  std::string cert_file;  // empty: no TLS
  std::string key_file;
  std::string client_ca_file;  // not empty: clients are asked for a certificate of it
  bool requires_client = true;  // and turned away without one

  bool enabled() const { return !cert_file.empty(); }
  bool operator==(const Tls&) const = default;
};

// What callers prove with who they are, beside certificates, and what they may do.
struct Access {
  std::string token_file;     // empty: no bearer tokens
  std::string jwt_keys_file;  // empty: no JSON Web Tokens
  std::string jwt_issuer;
  std::string jwt_audience;
  std::vector<std::string> jwt_algorithms;
  std::string jwt_groups_claim = "groups";
  std::string rules_file;  // empty: whoever calls may do everything
  bool is_open = false;    // callers need not prove anything, wherever they are

  bool operator==(const Access&) const = default;
};

struct Config {
  Command command = Command::kServe;
  std::string token_name;  // of kMakeToken
  std::vector<std::string> token_groups;
  std::string dump_file;  // of kDump and kRestore
  bool is_dry_run = false;  // of kMigrate: only tell what it would do

  std::string listen = "127.0.0.1:7070";          // port 0 takes a free one
  std::string metrics_listen = "127.0.0.1:9464";  // the same; empty: no metrics page

  std::string http_listen;  // likewise; empty: no HTTP but for that page
  bool is_http_by_default = false;  // nobody asked for that address
  std::vector<std::string> http_hosts;    // names that the HTTP port goes by
  std::vector<std::string> http_origins;  // of pages that may call it
  bool dashboard = false;                 // at that port

  std::vector<std::string> metrics_queues;  // patterns; these have metrics of their own first

  // Exactly one of the two is not empty.
  std::string database_uri;  // holds a password perhaps: never logged
  std::string database_file;  // that the URI comes from; empty: from elsewhere
  bool is_database_on_command_line = false;  // where others may read it
  std::string embedded_dir;  // absolute
  std::string pg_bindir;     // of embedded_dir; empty: found
  int database_connections = 4;

  bool auto_create_queues = false;
  bool hands_off = true;
  bool allow_unsafe_durability = false;
  bool migrate_at_start = true;

  Tls tls;
  Access access;
  bool reflection = true;

  int max_connections = model::kConnectionsMax;
  int max_waiting_calls = model::kWaitingCallsMax;
  int max_waiting_calls_per_connection = model::kWaitingCallsPerConnectionMax;
  int max_new_queues_per_minute = model::kNewQueuesPerMinuteMax;
  int principal_share = model::kPrincipalShare;  // percent
  int address_share = model::kAddressShare;      // percent
  absl::Duration drain_timeout = absl::Seconds(8);

  base::LogLevel log_level = base::LogLevel::kInfo;
  base::LogFormat log_format = base::LogFormat::kText;
  std::string ready_file;  // empty: none

  bool operator==(const Config&) const = default;
};

// Nothing is to be run: `text` goes to standard output if the code is 0, else to standard error.
struct EarlyExit {
  int code = 0;
  std::string text;
};

// `arguments` without the program's name. `version` is what --version shows. Reads the environment
// and the files named by --config and --database-file. Errors name the flag and have code 2; none
// repeats a database's URI.
std::variant<Config, EarlyExit> ParseConfig(const std::vector<std::string>& arguments,
                                            absl::string_view version);

// Whether callers have to prove who they are where others reach the addresses of `running`, which
// are served until the next start, once the files of `read` are taken. INVALID_ARGUMENT names the
// flag.
absl::Status CheckReload(const Config& running, Config read);

}  // namespace skiplane::config
