#include "server/config/options.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/config/access_options.h"
#include "server/config/add_option.h"
#include "server/config/address.h"
#include "server/config/help.h"
#include "server/config/settings_file.h"
#include "server/config/subcommands.h"

namespace skiplane::config {
namespace {

constexpr int kConnectionsMin = 2;  // one statement that waits must not stop all others
constexpr int kConnectionsMax = 64;
constexpr int kConnectionsUpperEnd = 1000000;
constexpr int kWaitingCallsUpperEnd = 1000000;
constexpr int kNewQueuesUpperEnd = model::kQueuesMax;
constexpr int kPercentMax = 100;
constexpr absl::Duration kDrainTimeoutMax = absl::Minutes(5);

std::string CheckMetricsAddress(const std::string& text) {
  return text == "off" ? "" : CheckNumericAddress(text);
}

std::string CheckQueuePattern(const std::string& text) {
  const bool is_pattern =
      !text.empty() && text.size() <= model::kQueueNameBytesMax &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains("._-*?", c);
      });
  return is_pattern ? "" : "must be the name of a queue, in which * and ? stand for others";
}

std::string CheckHttpAddress(const std::string& text) {
  return text == "off" ? "" : CheckAddress(text);
}

std::string CheckHostName(const std::string& text) {
  return IsHostName(text) ? "" : "must be a name without a port, as in broker.internal";
}

std::string CheckOrigin(const std::string& text) {
  // No URI in the message: it would be taken for one that a caller gave in the wrong place.
  return IsOrigin(text) ? "" : "must be an origin: http or https, a host, a port if it has one";
}

bool IsWholeNumber(absl::string_view text) {
  absl::ConsumePrefix(&text, "-");
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

// CLI11's own range says of a word that it is not in the range.
CLI::Validator InRange(int min, int max) {
  return CLI::Validator(
      [range = CLI::Range(min, max)](std::string& text) {
        const std::string refusal = range(text);
        return refusal.empty() || IsWholeNumber(text) ? refusal : "is not a whole number";
      },
      "N");
}

std::string CheckDrainTimeout(const std::string& text) {
  absl::Duration timeout;
  if (absl::ParseDuration(text, &timeout) && timeout >= absl::ZeroDuration() &&
      timeout <= kDrainTimeoutMax) {
    return "";
  }
  return absl::StrCat("must be a duration from 0s to ", absl::FormatDuration(kDrainTimeoutMax),
                      ", as in 8s or 1500ms");
}

std::string CheckLogLevel(const std::string& text) {
  base::LogLevel level = base::LogLevel::kInfo;
  return base::ParseLogLevel(text, &level) ? "" : "must be debug, info, warn or error";
}

std::string CheckLogFormat(const std::string& text) {
  return text == "text" || text == "json" ? "" : "must be text or json";
}

std::string CheckClientCertificate(const std::string& text) {
  return text == "required" || text == "optional" ? "" : "must be required or optional";
}

std::string CheckReflection(const std::string& text) {
  return text == "on" || text == "off" || text == "auto" ? "" : "must be on, off or auto";
}

void DeclareAddresses(CLI::App* app, Options* options) {
  Config& config = options->config;
  Add(app, "listen", &config.listen,
      "Address for gRPC; only this machine reaches the default, and port 0 takes a free one.")
      ->check(CheckAddress, "HOST:PORT")
      ->capture_default_str();
  Add(app, "metrics-listen", &config.metrics_listen,
      "Address for Prometheus' GET /metrics, or off for no such page.")
      ->check(CheckMetricsAddress, "ADDRESS:PORT")
      ->capture_default_str();
  AddList(app, "metrics-queue", &config.metrics_queues,
          "Give this queue metrics of its own before others, where more than 1,000 exist; * and ? "
          "match several. May be given again, or several with commas between.")
      ->check(CheckQueuePattern, "NAME");
  Add(app, "http-listen", &config.http_listen,
      "Address for HTTP: the API as JSON, health and metrics; or off. Default: 127.0.0.1:7080 with "
      "--embedded, else off.")
      ->check(CheckHttpAddress, "HOST:PORT");
  AddList(app, "http-host", &config.http_hosts,
          "A name that the HTTP port goes by, beside localhost, addresses and the name in "
          "--http-listen; requests for others are refused. May be given again, or several with "
          "commas between.")
      ->check(CheckHostName, "NAME");
  AddList(app, "http-origin", &config.http_origins,
          "Pages of this origin may call the HTTP port from a browser, as in "
          "https://tools.example. May be given again, or several with commas between.")
      ->check(CheckOrigin, "ORIGIN");
  options->dashboard = AddSwitch(
      app, "dashboard", "no-dashboard", &options->wants_dashboard,
      "Serve the dashboard for browsers at /dashboard/ of the HTTP port; --no-dashboard does not. "
      "Default: on with --embedded, else off.");
  Add(app, "ready-file", &config.ready_file,
      "Write this file, with the addresses in use and the process id, once calls are accepted.")
      ->check(CheckNotEmpty, "FILE");
}

void DeclareDatabase(CLI::App* app, Options* options) {
  Config& config = options->config;
  Add(app, "database", &config.database_uri,
      "Use this PostgreSQL (15 or newer); set SKIPLANE_DATABASE instead when the URI holds a "
      "password, because others can read a command line.")
      ->check(CheckDatabaseUri, "URI");
  Add(app, "database-file", &options->database_file,
      "Read the database's URI from the first line of this file.")
      ->check(CheckFile, "FILE");
  CLI::Option* const embedded =
      Add(app, "embedded", &config.embedded_dir,
          "Run a private PostgreSQL whose data is in this directory, made at the first use.")
          ->check(CheckNotEmpty, "DIR");
  Add(app, "pg-bindir", &config.pg_bindir,
      "Take the programs of --embedded (initdb, postgres) from here instead of the newest ones.")
      ->check(CLI::ExistingDirectory)
      ->needs(embedded);
  Add(app, "database-connections", &config.database_connections,
      "Connections that run statements, 2 to 64; more help only when the database has idle cores.")
      ->check(InRange(kConnectionsMin, kConnectionsMax))
      ->capture_default_str();
  AddSwitch(app, "no-migrate", &options->no_migrate,
            "Do not apply migrations at the start: end with an error if any is missing.");
  AddSwitch(app, "allow-unsafe-durability", &config.allow_unsafe_durability,
            "Start although the database has fsync or full_page_writes off and may lose what it "
            "promised to keep.");
}

void DeclareSecurity(CLI::App* app, Options* options) {
  Tls& tls = options->config.tls;
  CLI::Option* const cert =
      Add(app, "tls-cert", &tls.cert_file,
          "Serve gRPC and HTTP with TLS only, and show clients this certificate chain (PEM).")
          ->check(CheckFile, "FILE");
  CLI::Option* const key =
      Add(app, "tls-key", &tls.key_file, "The private key (PEM) of --tls-cert.")
          ->check(CheckFile, "FILE");
  cert->needs(key);
  key->needs(cert);
  CLI::Option* const client_ca = Add(
      app, "tls-client-ca", &tls.client_ca_file,
      "Ask clients for a certificate of these authorities (PEM): they are known by its name.")
      ->check(CheckFile, "FILE")
      ->needs(cert);
  Add(app, "tls-client-certificate", &options->client_certificate,
      "Whether a client without such a certificate is turned away at once: required, which is the "
      "default, or optional.")
      ->check(CheckClientCertificate, "required|optional")
      ->needs(client_ca);
  Add(app, "reflection", &options->reflection,
      "Let clients ask for the API's description: on, off, or auto for on a loopback address only.")
      ->check(CheckReflection, "on|off|auto")
      ->capture_default_str();
}

void DeclareLimits(CLI::App* app, Options* options) {
  Config& config = options->config;
  Add(app, "max-connections", &config.max_connections,
      "Connections of callers that may be open; further ones are closed at once. Fewer if the "
      "limit of open files is too low.")
      ->check(InRange(1, kConnectionsUpperEnd))
      ->capture_default_str();
  Add(app, "max-waiting-calls", &config.max_waiting_calls,
      "Calls that may wait at once, about 16 kB each; further ones are refused. These are Lease, "
      "and GetTask with a wait, which takes at most half of the places.")
      ->check(InRange(1, kWaitingCallsUpperEnd))
      ->capture_default_str();
  Add(app, "max-waiting-calls-per-connection", &config.max_waiting_calls_per_connection,
      "Those that may wait at once on one connection; a proxy that puts all workers on one needs "
      "more.")
      ->check(InRange(1, kWaitingCallsUpperEnd))
      ->capture_default_str();
  Add(app, "max-new-queues-per-minute", &config.max_new_queues_per_minute,
      "Queues that calls at this broker may make in a minute, by CreateQueue or by "
      "--auto-create-queues; further ones are refused.")
      ->check(InRange(1, kNewQueuesUpperEnd))
      ->capture_default_str();
  Add(app, "principal-share", &config.principal_share,
      "What one principal may have of the calls that wait, of the calls and bytes that are under "
      "way, and of the new queues, in percent: the rest is for others. 100: no limit of its own.")
      ->check(InRange(1, kPercentMax))
      ->capture_default_str();
  Add(app, "address-share", &config.address_share,
      "What callers at one address may have of --max-connections, of the bytes of bodies by HTTP "
      "and, without principals, of --max-waiting-calls, in percent: the rest is for others. 100, "
      "if all come through one proxy.")
      ->check(InRange(1, kPercentMax))
      ->capture_default_str();
}

void DeclareBehaviour(CLI::App* app, Options* options) {
  Config& config = options->config;
  AddSwitch(app, "auto-create-queues", &config.auto_create_queues,
            "Create an unknown queue, with default settings, when it is first used.");
  AddSwitch(app, "no-hand-off", &options->no_hand_off,
            "Lease tasks by statements of their own, also if a worker waits while they are made.");
  Add(app, "drain-timeout", &options->drain_timeout,
      "How long open work may take after SIGTERM before the broker ends without it.")
      ->check(CheckDrainTimeout, "DURATION")
      ->capture_default_str();
  Add(app, "log-level", &options->log_level,
      "The least level that is logged: debug, info, warn or error.")
      ->check(CheckLogLevel, "LEVEL")
      ->capture_default_str();
  Add(app, "log-format", &options->log_format,
      "How lines are logged: text for people, or json, an object per line.")
      ->check(CheckLogFormat, "text|json")
      ->capture_default_str();
}

}  // namespace

void DeclareOptions(absl::string_view version, CLI::App* app, Options* options) {
  app->description("Skiplane: a task queue in front of PostgreSQL.");
  app->footer(
      "Exactly one of --database, --database-file and --embedded is needed. A flag beats its\n"
      "environment variable, which beats the file of --config.\n\n"
      "SIGTERM and SIGINT drain the broker and end it; the same again, a second later or more,\n"
      "ends it at once. SIGHUP reads the log level and the files of TLS,\n"
      "credentials and rules anew; so does a change of one of these files.");
  app->set_help_flag("--help,-h", "Show this text and end.");
  app->set_version_flag("--version", absl::StrCat("skiplaned ", version),
                        "Show the version and end.");
  app->formatter(std::make_shared<Help>());
  app->config_formatter(std::make_shared<SettingsFile>(app));
  app->set_config("--config", "", "Read flags from this file, as lines of \"name = value\".")
      ->type_name("")
      ->check(CheckFile, "FILE");
  app->allow_config_extras(false);
  app->fallthrough();
  DeclareAddresses(app, options);
  DeclareDatabase(app, options);
  DeclareSecurity(app, options);
  DeclareAccess(app, &options->config.access);
  DeclareLimits(app, options);
  DeclareBehaviour(app, options);
  DeclareSubcommands(app, &options->config);
}

}  // namespace skiplane::config
