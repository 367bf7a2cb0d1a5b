// How columns for what callers send are compressed when it is large.
#include <string>

#include "gmock/gmock.h"
#include "tests/support/database.h"

namespace skiplane::testing {
namespace {

constexpr char kHasLz4[] =
    "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'";

constexpr char kOthers[] = R"(
SELECT string_agg(a.attrelid::regclass || '.' || a.attname, ' ')
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'skiplane'::regnamespace AND c.relkind IN ('r', 'p')
  AND a.attname IN ('payload', 'own_payload', 'result') AND a.attcompression <> 'l')";

TEST(CompressionTest, PayloadsAreCompressedWithLz4AlsoInPartitionsThatAreMadeLater) {
  const Database database = Database::Migrated();
  if (database.Run(kHasLz4) != "t") GTEST_SKIP() << "this server has no lz4";
  const std::string partitions = "SELECT count(*) FROM pg_inherits";
  const std::string before = database.Run(partitions);
  database.Run("SELECT skiplane.make_partitions(9)");
  EXPECT_NE(database.Run(partitions), before);
  EXPECT_EQ(database.Run(kOthers), "");
}

}  // namespace
}  // namespace skiplane::testing
