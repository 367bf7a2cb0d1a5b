// with_postgres COMMAND…: runs a command beside a PostgreSQL that all tests below it share
// (tests/support/cluster.h), and ends with its exit code.
#include <csignal>
#include <iostream>

#include "tests/support/cluster.h"
#include "tests/support/require.h"

int main(int argc, char** argv) {
  using skiplane::app::Child;
  using skiplane::app::ChildOptions;
  if (argc < 2) {
    std::cerr << "usage: with_postgres COMMAND [ARGUMENT]...\n";
    return 2;
  }
  const skiplane::testing::Cluster cluster({.keeps_pristine = true});
  ChildOptions options;
  options.argv.assign(argv + 1, argv + argc);
  options.env = {"SKIPLANE_TEST_PG=" + cluster.folder()};
  options.directory = ".";
  options.death_signal = SIGTERM;
  Child child = skiplane::testing::Required(Child::Start(options));
  return child.Wait(absl::Hours(24)).value_or(1);
}
