// A database of a test's own, dropped when the object goes, with whoever is connected to it.
//
//   Database database = Database::Migrated();
//   pg::ConnectOptions options{.uri = database.uri()};
//
// Not thread-safe. Failures end the test program.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "tests/support/cluster.h"

namespace skiplane::testing {

// Who may log in where the template was made, and is a member of skiplane_broker.
inline constexpr char kBrokerUser[] = "skiplane_test_broker";

class Database {
 public:
  // An empty database in `cluster`.
  explicit Database(Cluster& cluster = Cluster::Shared());
  // One with the schema of the broker: copied from a template that is made once per cluster.
  static Database Migrated(Cluster& cluster = Cluster::Shared());

  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  const std::string& name() const { return name_; }
  std::string uri() const { return cluster_->uri(name_); }
  // As a broker should: with the rights of skiplane_broker and no other. Of a migrated one.
  std::string broker_uri() const { return cluster_->uri(name_, kBrokerUser); }

  // Runs SQL with the simple protocol on a connection of its own and returns the first column of
  // the first row of the last result; empty if there is none or it is null.
  std::string Run(const std::string& sql) const;

 private:
  Database(Cluster& cluster, absl::string_view template_name);

  Cluster* cluster_;
  std::string name_;
};

// As Database::Run, on any server.
std::string RunSql(const std::string& uri, const std::string& sql);

}  // namespace skiplane::testing
