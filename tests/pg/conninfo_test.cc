#include "server/pg/conninfo.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using ::testing::Not;
using testing::IsOkAndHolds;
using testing::ReasonIs;

TEST(ConninfoTest, AUriAndAKeywordStringAreCompleted) {
  for (const char* const uri : {"postgresql://bob@db.example:5433/tasks",
                                "host=db.example port=5433 user=bob dbname=tasks"}) {
    EXPECT_THAT(Conninfo({.uri = uri}),
                IsOkAndHolds(AllOf(HasSubstr("host='db.example'"), HasSubstr("port='5433'"),
                                   HasSubstr("user='bob'"), HasSubstr("dbname='tasks'"),
                                   HasSubstr("connect_timeout='3'"),
                                   HasSubstr("tcp_user_timeout='5000'"),
                                   HasSubstr("keepalives_idle='3'"),
                                   HasSubstr("application_name='skiplaned'"),
                                   HasSubstr("client_encoding='UTF8'"))));
  }
}

TEST(ConninfoTest, WhatTheCallerSaysStandsSaveTheEncoding) {
  EXPECT_THAT(
      Conninfo({.uri = "postgresql:///x?connect_timeout=9&application_name=mine"
                       "&client_encoding=SQL_ASCII&target_session_attrs=any"}),
      IsOkAndHolds(AllOf(HasSubstr("connect_timeout='9'"), HasSubstr("application_name='mine'"),
                         HasSubstr("target_session_attrs='any'"),
                         HasSubstr("client_encoding='UTF8'"), Not(HasSubstr("SQL_ASCII")))));
}

TEST(ConninfoTest, QuotesAndBackslashesSurvive) {
  EXPECT_THAT(Conninfo({.uri = "postgresql://bob:p%27w%5C@h/x"}),
              IsOkAndHolds(HasSubstr("password='p\\'w\\\\'")));
}

TEST(ConninfoTest, AMalformedUriIsRefusedWithoutRepeatingIt) {
  for (const char* const uri : {"postgresql://bob:hunter2@h:port:1/x?%zz", "hunter2"}) {
    const absl::StatusOr<std::string> conninfo = Conninfo({.uri = uri});
    EXPECT_THAT(conninfo, ReasonIs("DATABASE_UNAVAILABLE"));
    EXPECT_THAT(conninfo.status().ToString(), Not(HasSubstr("hunter2")));
  }
}

TEST(ConninfoTest, APasswordIsFoundWhereverItStands) {
  for (const char* const uri :
       {"postgresql://bob:hunter2@h/x", "postgresql:///x?password=hunter2"}) {
    EXPECT_THAT(HasPassword(uri), IsOkAndHolds(true)) << uri;
  }
  EXPECT_THAT(HasPassword("postgresql://bob@h/x"), IsOkAndHolds(false));
}

TEST(ConninfoTest, ProgramsGetIt) {
  EXPECT_THAT(LibpqEnvironment("postgresql://bob:hunter%202@h:7/x?sslmode=require&keepalives=0"),
              IsOkAndHolds(UnorderedElementsAre("PGHOST=h", "PGPORT=7", "PGUSER=bob",
                                                "PGPASSWORD=hunter 2", "PGDATABASE=x",
                                                "PGSSLMODE=require")));
  EXPECT_FALSE(LibpqEnvironment("postgresql://h/%").ok());
}

TEST(ConninfoTest, AShortTimeLimitIsNotTakenAsNone) {
  EXPECT_THAT(Conninfo({.uri = "", .connect_timeout = absl::Milliseconds(10)}),
              IsOkAndHolds(HasSubstr("connect_timeout='2'")));
  EXPECT_THAT(SessionSettings({.uri = "", .statement_timeout = absl::Microseconds(1)}),
              HasSubstr("statement_timeout = '1ms'"));
}

}  // namespace
}  // namespace skiplane::pg
