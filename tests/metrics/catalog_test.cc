// The page against its document, and against Prometheus' own rules.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/page.h"

namespace skiplane::metrics {
namespace {

using ::testing::ContainerEq;

// What Prometheus would get from a broker that has done everything once.
std::string ServedPage() {
  Metrics metrics("1.2.3", "abc");
  UseEveryVerb(metrics);
  return metrics.Text();
}

std::map<std::string, PageFamily> DocumentedFamilies() {
  std::map<std::string, PageFamily> families;
  std::ifstream document(SKIPLANE_METRICS_DOCUMENT);
  for (std::string line; std::getline(document, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() != 6 || !absl::StartsWith(cells[1], " `")) continue;
    const auto words = [](const std::string& cell) {
      return std::vector<std::string>(
          absl::StrSplit(cell, absl::ByAnyChar(" `,"), absl::SkipEmpty()));
    };
    const std::vector<std::string> labels = words(cells[3]);
    families[words(cells[1]).at(0)] = {words(cells[2]).at(0), {labels.begin(), labels.end()}};
  }
  return families;
}

std::map<std::string, std::string> Described(const std::map<std::string, PageFamily>& families) {
  std::map<std::string, std::string> described;
  for (const auto& [name, family] : families) {
    described[name] = absl::StrCat(family.type, " of ", absl::StrJoin(family.labels, ", "));
  }
  return described;
}

TEST(CatalogTest, TheDocumentNamesEveryMetricOfThePageAndNoOther) {
  EXPECT_THAT(Described(DocumentedFamilies()),
              ContainerEq(Described(ParsePage(ServedPage()).families)));
}

TEST(CatalogTest, EveryMetricHasAHelpText) {
  const std::string page = ServedPage();
  for (const auto& [name, family] : ParsePage(page).families) {
    EXPECT_TRUE(absl::StrContains(page, absl::StrCat("# HELP ", name, " "))) << name;
    EXPECT_FALSE(family.type.empty()) << name;
  }
}

TEST(CatalogTest, TheNameOfATimeOrASizeSaysItsUnit) {
  for (const auto& [name, family] : ParsePage(ServedPage()).families) {
    const bool is_distribution = family.type == "histogram" || family.type == "summary";
    EXPECT_TRUE(!is_distribution || absl::EndsWith(name, "_seconds") ||
                absl::EndsWith(name, "_tasks"))
        << name;
    for (const char* const word : {"latenc", "duration", "_age", "millis", "micros"}) {
      EXPECT_TRUE(!absl::StrContains(name, word) || absl::StrContains(name, "_seconds")) << name;
    }
  }
}

TEST(CatalogTest, PrometheusOwnLintAcceptsThePage) {
  if (std::system("command -v promtool > /dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  }
  FILE* const lint = popen("promtool check metrics", "w");
  ASSERT_NE(lint, nullptr);
  const std::string page = ServedPage();
  EXPECT_EQ(std::fwrite(page.data(), 1, page.size(), lint), page.size());
  const int status = pclose(lint);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "see the lines of promtool above";
}

}  // namespace
}  // namespace skiplane::metrics
