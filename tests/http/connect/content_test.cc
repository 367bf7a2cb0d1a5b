#include "server/http/connect/content.h"

#include <gtest/gtest.h>

namespace skiplane::http::connect {
namespace {

Head WithType(std::string type) { return {"POST", "/x", {{"content-type", std::move(type)}}}; }

TEST(Content, TheTypeSaysTheForm) {
  EXPECT_EQ(FormOf(WithType("application/json"), false), Form::kJson);
  EXPECT_EQ(FormOf(WithType("application/proto"), false), Form::kProto);
  EXPECT_EQ(FormOf(WithType("application/connect+json"), true), Form::kJson);
  EXPECT_EQ(FormOf(WithType("application/connect+proto"), true), Form::kProto);
  EXPECT_EQ(FormOf(WithType("Application/Json ; charset=\"UTF-8\""), false), Form::kJson);
}

TEST(Content, StreamsHaveTypesOfTheirOwn) {
  EXPECT_EQ(FormOf(WithType("application/json"), true), std::nullopt);
  EXPECT_EQ(FormOf(WithType("application/connect+json"), false), std::nullopt);
}

TEST(Content, OtherTypesAreNone) {
  for (const char* type : {"", "text/json", "application/json; charset=latin-1",
                           "application/jsonx", "application/json, text/plain"}) {
    EXPECT_EQ(FormOf(WithType(type), false), std::nullopt) << type;
  }
}

TEST(Content, FieldsThatStandTwiceAreNotTakenByTheFirst) {
  const Field json("content-type", "application/json");
  EXPECT_EQ(FormOf({"POST", "/x", {json, json}}, false), std::nullopt);
  const Field gzip("content-encoding", "gzip");
  EXPECT_EQ(EncodingNotTaken({"POST", "/x", {gzip, gzip}}, false), "several");
  EXPECT_EQ(EncodingNotTaken({"POST", "/x", {{"content-encoding", "gzip, gzip"}}}, false),
            "gzip, gzip");
}

TEST(Content, OnlyBodiesOfUnaryCallsMayBeCompressed) {
  const Head plain{"POST", "/x", {{"content-encoding", "Identity"}}};
  const Head packed{"POST", "/x", {{"content-encoding", "gzip"}}};
  const Head stream{"POST", "/x", {{"connect-content-encoding", "gzip"}}};
  EXPECT_EQ(EncodingNotTaken(plain, false), "");
  const Head other{"POST", "/x", {{"content-encoding", "br"}}};
  EXPECT_EQ(EncodingNotTaken(packed, false), "");
  EXPECT_EQ(EncodingNotTaken(other, false), "br");
  EXPECT_TRUE(IsGzip(packed));
  EXPECT_FALSE(IsGzip(plain));
  EXPECT_EQ(EncodingNotTaken(stream, true), "gzip");
}

}  // namespace
}  // namespace skiplane::http::connect
