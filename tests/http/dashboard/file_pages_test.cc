#include "server/http/dashboard/file_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/http/gzip.h"

namespace skiplane::http::dashboard {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Unpacked(const std::string& packed) {
  return Gunzip(packed, 10 << 20, [](size_t) { return true; }).value();
}

class FilePagesTest : public ::testing::Test {
 protected:
  Response Get(std::string path, Fields fields = {}) const {
    return pages_.Answer({"GET", std::move(path), std::move(fields)});
  }
  static std::string Field(const Response& response, absl::string_view name) {
    return std::string(FindField(response.fields, name));
  }

  const std::vector<File> files_ = {{"index.html", "1a", "<p>"}, {"dashboard.js", "2b", "run()"},
                                    {"dashboard.css", "3c", "p{}"}};
  const FilePages pages_{files_};
};

TEST_F(FilePagesTest, EachFileHasItsTypeAndAllThatGuardsIt) {
  const std::pair<const char*, const char*> kTypes[] = {
      {"/dashboard/", "text/html; charset=utf-8"},
      {"/dashboard/index.html", "text/html; charset=utf-8"},
      {"/dashboard/dashboard.js", "text/javascript; charset=utf-8"},
      {"/dashboard/dashboard.css", "text/css; charset=utf-8"}};
  for (const auto& [path, type] : kTypes) {
    const Response response = Get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, type);
    EXPECT_EQ(Field(response, "Cache-Control"), "no-cache");
    EXPECT_EQ(Field(response, "Vary"), "Accept-Encoding");
    EXPECT_EQ(Field(response, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(Field(response, "Cross-Origin-Opener-Policy"), "same-origin");
    EXPECT_EQ(Field(response, "Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
              "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; "
              "frame-ancestors 'none'");
  }
}

TEST_F(FilePagesTest, AddressesOfThePageHaveThePage) {
  for (const char* path : {"/dashboard/", "/dashboard/queues", "/dashboard/login",
                           "/dashboard/queues/mail.send/tasks", "/dashboard/queues/mail.send"}) {
    EXPECT_TRUE(pages_.Has(path)) << path;
    EXPECT_EQ(Get(path).body, "<p>") << path;
  }
  for (const char* path : {"/dashboard/favicon.ico", "/dashboard/dashboard.js.map",
                           "/dashboard/..", "/dashboard/."}) {
    EXPECT_FALSE(pages_.Has(path)) << path;
  }
}

TEST_F(FilePagesTest, WhoHasThisVersionGetsNoBody) {
  const std::string tag = Field(Get("/dashboard/dashboard.js"), "ETag");
  EXPECT_EQ(tag, "W/\"2b\"");
  for (const char* known : {"W/\"2b\"", "\"2b\"", "\"1\", W/\"2b\"", "*"}) {
    const Response response = Get("/dashboard/dashboard.js", {{"if-none-match", known}});
    EXPECT_EQ(response.status, 304) << known;
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(Field(response, "ETag"), tag);
    EXPECT_EQ(Field(response, "Cache-Control"), "no-cache");
    EXPECT_EQ(Field(response, "Vary"), "Accept-Encoding");
  }
  for (const char* other : {"W/\"1a\"", "2b", "\"2\"", ""}) {
    const Response response = Get("/dashboard/dashboard.js", {{"if-none-match", other}});
    EXPECT_EQ(response.status, 200) << other;
    EXPECT_EQ(response.body, "run()");
  }
}

TEST_F(FilePagesTest, WhoTakesGzipGetsIt) {
  const Response packed = Get("/dashboard/dashboard.js", {{"accept-encoding", "gzip, br"}});
  EXPECT_EQ(Field(packed, "Content-Encoding"), "gzip");
  EXPECT_EQ(Unpacked(packed.body), "run()");
  const Response plain = Get("/dashboard/dashboard.js", {{"accept-encoding", "br"}});
  EXPECT_EQ(Field(plain, "Content-Encoding"), "");
  EXPECT_EQ(plain.body, "run()");
}

TEST(Files, AreInTheProgramAndSmall) {
  ASSERT_EQ(Files().size(), 3U);
  EXPECT_EQ(Files()[0].name, "index.html");
  EXPECT_EQ(Files()[1].name, "dashboard.js");
  EXPECT_EQ(Files()[2].name, "dashboard.css");
  EXPECT_THAT(std::string(Files()[0].text), StartsWith("<!"));
  EXPECT_THAT(std::string(Files()[0].text), HasSubstr("dashboard.js"));
  size_t bytes = 0;
  for (const File& file : Files()) {
    EXPECT_EQ(file.version.size(), 32U);
    bytes += Gzip(std::string(file.text)).size();
  }
  EXPECT_LE(bytes, 250000U);
}

}  // namespace
}  // namespace skiplane::http::dashboard
