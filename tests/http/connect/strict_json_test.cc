#include "server/http/connect/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "skiplane/v1/admin.pb.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::http::connect {
namespace {

using google::protobuf::Descriptor;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Status Check(absl::string_view text) {
  return CheckJson(text, *v1::EnqueueRequest::descriptor());
}

std::string FieldOf(absl::string_view text) {
  const absl::Status status = Check(text);
  EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << text;
  return base::FieldOf(status);
}

TEST(StrictJson, AMessageInEitherSpellingIsGood) {
  for (const char* text :
       {R"({})", R"({"queue":"a","requestId":"r","tasks":[]})", R"( {"request_id":"r"} )",
        R"({"tasks":[{"payload":"aGk=","priority":-1,"headers":{"a":"b"}},{}]})",
        R"({"tasks":[{"delay":"1.5s","maxAttempts":1e1}]})"}) {
    EXPECT_TRUE(Check(text).ok()) << text << Check(text);
  }
}

TEST(StrictJson, ANullAmongTheElementsOfAListWouldShiftTheOthers) {
  EXPECT_EQ(FieldOf(R"({"tasks":[{"payload":"aGk="},null,{}]})"), "tasks[1]");
  EXPECT_EQ(FieldOf(R"({"tasks":[null]})"), "tasks[0]");
}

TEST(StrictJson, ANullInAMapWouldDropItsKey) {
  EXPECT_EQ(FieldOf(R"({"tasks":[{},{"headers":{"a":"b","c":null}}]})"), "tasks[1].headers");
}

TEST(StrictJson, ANullElsewhereIsAFieldThatIsUnset) {
  for (const char* text : {R"({"queue":null,"tasks":null})", R"({"tasks":[{"headers":null}]})",
                           R"({"tasks":[{"payload":null,"delay":null}]})"}) {
    EXPECT_TRUE(Check(text).ok()) << text << Check(text);
  }
}

TEST(StrictJson, TextsThatHoldNullAreTexts) {
  for (const char* text : {R"({"tasks":[{"contentType":",null,"}]})",
                           R"({"tasks":[{"contentType":"\",null,\\"}]})",
                           R"({"tasks":[{"headers":{"null":"null"}}]})", R"({"queue":"[null]"})"}) {
    EXPECT_TRUE(Check(text).ok()) << text << Check(text);
  }
}

TEST(StrictJson, WhatOnlyLooseParsersTakeIsNoJson) {
  for (const char* text :
       {"", " ", "{", R"({"queue":"a"}})", R"({"queue":"a",})", R"({"tasks":[{},]})",
        R"({'queue':'a'})", R"({queue:"a"})", R"({"queue":"a"} {})", R"({"queue":"a"} // x)",
        R"({"queue":"a" /* x */})", "{\"queue\":\"a\tb\"}", R"({"queue":"\x41"})",
        R"({"queue":"\ud800"})", "{\"queue\":\"\xff\"}", R"({"tasks":[{"priority":01}]})",
        R"({"tasks":[{"priority":1.}]})", R"({"tasks":[{"priority":+1}]})",
        R"({"tasks":[{"priority":NaN}]})", R"({"tasks":[{"priority":0x1}]})",
        R"({"tasks":[{"priority":1e400}]})", R"({"tasks":TRUE})"}) {
    EXPECT_EQ(FieldOf(text), "") << text;
    EXPECT_THAT(std::string(Check(text).message()), HasSubstr("at byte")) << text;
  }
  EXPECT_FALSE(Check(std::string("{\"queue\":\"a\0\"}", 14)).ok());
}

TEST(StrictJson, AFieldThatStandsTwiceIsBlamed) {
  EXPECT_EQ(FieldOf(R"({"queue":"a","queue":"b"})"), "queue");
  EXPECT_EQ(FieldOf(R"({"requestId":"a","request_id":"a"})"), "request_id");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"payload":""},{"priority":1,"priority":1}]})"),
            "tasks[1].priority");
  EXPECT_TRUE(Check(R"({"tasks":[{"priority":1},{"priority":1}],"queue":"a"})").ok());
}

TEST(StrictJson, AnotherShapeThanTheFieldsIsBlamed) {
  EXPECT_EQ(FieldOf(R"({"tasks":{"payload":""}})"), "tasks");
  EXPECT_EQ(FieldOf(R"({"tasks":[[{}]]})"), "tasks[0]");
  EXPECT_EQ(FieldOf(R"({"tasks":[{},"x"]})"), "tasks[1]");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"headers":[]}]})"), "tasks[0].headers");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"headers":{"a":{}}}]})"), "tasks[0].headers");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"delay":{"seconds":1}}]})"), "tasks[0].delay");
  EXPECT_EQ(FieldOf(R"({"queue":["a"]})"), "queue");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"colour":[[[]]]}]})"), "tasks[0].colour");
  for (const char* text : {"null", "7", "\"a\"", "[]", "true"}) EXPECT_EQ(FieldOf(text), "");
}

TEST(StrictJson, WhiteSpaceAroundAValueIsBlamedUnlessItIsAText) {
  EXPECT_EQ(FieldOf(R"({"tasks":[{"delay":" 5s"}]})"), "tasks[0].delay");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"version":"7 "}]})"), "tasks[0].version");
  EXPECT_EQ(FieldOf(R"({"tasks":[{"payload":"\taGk="}]})"), "tasks[0].payload");
  EXPECT_TRUE(Check(R"({"tasks":[{"key":" a ","headers":{" b":" c "}}]})").ok());
}

TEST(StrictJson, DurationsAreAsProtobufWritesThem) {
  for (const char* good : {"0s", "5s", "-5s", "1.5s", "0.000000001s", "315576000000s"}) {
    EXPECT_TRUE(Check(absl::StrCat(R"({"tasks":[{"delay":")", good, R"("}]})")).ok()) << good;
  }
  for (const char* bad :
       {"", "s", "5", "5 s", "+5s", "5.s", ".5s", "1.0000000001s", "1e1s", "5ss"}) {
    EXPECT_EQ(FieldOf(absl::StrCat(R"({"tasks":[{"delay":")", bad, R"("}]})")), "tasks[0].delay")
        << bad;
  }
}

TEST(StrictJson, DepthTakesNoStackAndEndsAtOnce) {
  std::string deep = R"({"tasks":)";
  deep.append(8 << 20, '[');
  EXPECT_EQ(FieldOf(deep), "tasks[0]");
}

TEST(StrictJson, NoValueIsTold) {
  for (const char* text : {R"({"tasks":[{"payload":"secret)", R"({"tasks":["secret"]})",
                           R"({"queue":"a","tasks":{"x":"secret"}})", R"("secret")"}) {
    EXPECT_THAT(std::string(Check(text).message()), Not(HasSubstr("secret"))) << text;
  }
}

// Of `type` and what it holds, those that protobuf's mapping gives a form of their own.
void AddOwnForms(const Descriptor& type, std::set<const Descriptor*>* seen,
                 std::set<std::string>* forms) {
  if (!seen->insert(&type).second) return;
  if (type.file()->package() == "google.protobuf") {
    forms->emplace(type.full_name());
    return;
  }
  for (int i = 0; i < type.field_count(); ++i) {
    if (const Descriptor* held = type.field(i)->message_type()) AddOwnForms(*held, seen, forms);
  }
}

TEST(StrictJson, NoRequestHoldsAMessageWhoseJsonMayBeAnythingOrNull) {
  std::set<const Descriptor*> seen;
  std::set<std::string> forms;
  for (const auto* file : {v1::EnqueueRequest::descriptor()->file(),
                           v1::GetQueueRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service(0)->method_count(); ++i) {
      AddOwnForms(*file->service(0)->method(i)->input_type(), &seen, &forms);
    }
  }
  EXPECT_THAT(forms, ::testing::ElementsAre("google.protobuf.Duration", "google.protobuf.FieldMask",
                                            "google.protobuf.Timestamp"));
}

}  // namespace
}  // namespace skiplane::http::connect
