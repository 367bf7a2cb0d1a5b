// What a codec is asked for, and what becomes of its errors, against a broker in this process.
#include "skiplane/codec.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/src/content.h"
#include "client/src/worker/ack_item.h"
#include "tests/client/worker_fixture.h"

namespace skiplane {
namespace {

// Writes the place before the content. Refuses what it is told to.
class PlaceCodec : public Codec {
 public:
  explicit PlaceCodec(std::string mark = "place") : mark_(std::move(mark)) {}

  absl::StatusOr<EncodedContent> Encode(const ContentPlace& place,
                                        absl::string_view content) const override {
    if (content == "refuse") return absl::UnavailableError("no key yet");
    return EncodedContent{.bytes = absl::StrCat(Prefix(place), content), .mark = mark_};
  }

  absl::StatusOr<std::string> Decode(const ContentPlace& place, absl::string_view mark,
                                     absl::string_view bytes) const override {
    if (mark != mark_) return absl::PermissionDeniedError(absl::StrCat("mark '", mark, "'"));
    return std::string(bytes.substr(Prefix(place).size()));
  }

 private:
  static std::string Prefix(const ContentPlace& place) {
    return absl::StrCat(place.kind == ContentKind::kResult ? "result" : "payload", " of ",
                        place.queue, ": ");
  }

  const std::string mark_;
};

class CodecTest : public WorkerTest {
 protected:
  Client Connected(std::shared_ptr<const Codec> codec) {
    return *Client::Connect({.addresses = {broker_.address()}, .codec = std::move(codec)});
  }

  Client client_ = Connected(std::make_shared<PlaceCodec>());
  const ClientOptions with_{.codec = std::make_shared<PlaceCodec>()};
  const ClientOptions without_{};
  const ClientOptions passing_{.pass_encoded = true};
};

TEST_F(CodecTest, PayloadsAreEncodedForTheQueueOfTheirTask) {
  EnqueueCall call{.queue = "q"};
  call.tasks = {{.payload = "a", .headers = {{"h", "1"}}}, {.payload = "b", .queue = "other"}, {}};
  ASSERT_TRUE(client_.Enqueue(std::move(call)).ok());
  const auto& tasks = broker_.enqueues.at(0).tasks();
  EXPECT_EQ(tasks.at(0).payload(), "payload of q: a");
  EXPECT_EQ(tasks.at(0).headers().at("h"), "1");
  EXPECT_EQ(tasks.at(0).headers().at("skiplane-codec"), "place");
  EXPECT_EQ(tasks.at(1).payload(), "payload of other: b");
  EXPECT_EQ(tasks.at(2).payload(), "payload of q: ") << "an empty one is content, too";
}

TEST_F(CodecTest, AnErrorFailsTheCallBeforeAnythingIsSent) {
  EXPECT_EQ(client_.Enqueue("q", {.payload = "refuse"}).status().message(), "no key yet");
  for (const std::string& mark : {std::string(), std::string("a b"), std::string(129, 'a')}) {
    EXPECT_EQ(Connected(std::make_shared<PlaceCodec>(mark)).Enqueue("q", {}).status().code(),
              absl::StatusCode::kInternal);
  }
  const auto reserved = client_.Enqueue("q", {.headers = {{"skiplane-codec", "x"}}}).status();
  EXPECT_EQ(reserved.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(reserved.message(), testing::HasSubstr("tasks[0]"));
  EXPECT_TRUE(broker_.enqueues.empty());
}

TEST_F(CodecTest, AcksAreEncodedAsAWhole) {
  AckItem item{.lease_token = "t", .result = "r", .queue = "q"};
  item.more.next_payload = NextPayload{.payload = "n"};
  item.more.follow_ups = {{.payload = "f", .queue = "other"}};
  const auto ack = internal::EncodeToAck(with_, {item});
  ASSERT_TRUE(ack.ok()) << ack.status();
  EXPECT_THAT(ack->items(0).result(), testing::EndsWith(" place\nresult of q: r"));
  EXPECT_EQ(ack->items(0).next_payload().payload(), "payload of q: n");
  EXPECT_EQ(ack->items(0).next_payload().headers().at("skiplane-codec"), "place");
  EXPECT_EQ(ack->items(0).follow_ups(0).payload(), "payload of other: f");
  const auto settle = internal::EncodeToSettle(with_, {item, NackItem{.lease_token = "u"}});
  ASSERT_TRUE(settle.ok()) << settle.status();
  EXPECT_EQ(settle->items(0).ack().SerializeAsString(), ack->items(0).SerializeAsString());
  EXPECT_EQ(settle->items(1).nack().lease_token(), "u");
}

TEST_F(CodecTest, AnAckWithContentNamesItsQueue) {
  AckItem item{.lease_token = "t"};
  EXPECT_EQ(internal::EncodeToAck(with_, {item})->items(0).result(), "");
  item.more.next_payload = NextPayload{};
  const auto next = internal::EncodeToSettle(with_, {item}).status();
  EXPECT_THAT(next.message(), testing::HasSubstr("items[0].ack.queue"));
  item = {.lease_token = "t", .result = "r"};
  EXPECT_EQ(client_.Ack({item}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(internal::EncodeToAck(without_, {item}).ok());
}

LeaseAnswer AnswerOf(const std::string& payload, std::map<std::string, std::string> headers = {}) {
  LeaseAnswer answer;
  answer.tasks.push_back({.queue = "q", .payload = payload, .headers = std::move(headers)});
  return answer;
}

TEST_F(CodecTest, APayloadComesBackWithoutItsMark) {
  LeaseAnswer answer = AnswerOf("payload of q: a", {{"skiplane-codec", "place"}, {"h", "1"}});
  internal::DecodeTasks(with_, answer);
  EXPECT_EQ(answer.tasks[0].payload, "a");
  EXPECT_THAT(answer.tasks[0].headers, testing::ElementsAre(testing::Pair("h", "1")));
  EXPECT_TRUE(answer.tasks[0].content_status.ok());
}

TEST_F(CodecTest, WhatCannotBeDecodedIsNotHandedOut) {
  for (const ClientOptions* const options : {&with_, &without_}) {
    SettleAndLeaseAnswer answer{.lease = AnswerOf("secret", {{"skiplane-codec", "other"}})};
    internal::DecodeTasks(*options, answer);
    EXPECT_EQ(answer.lease->tasks[0].payload, "");
    EXPECT_THAT(answer.lease->tasks[0].content_status.message(), testing::HasSubstr("other"));
  }
}

TEST_F(CodecTest, ThePayloadThatNobodyEncodedIsForTheCodecToJudge) {
  LeaseAnswer answer = AnswerOf("clear");
  internal::DecodeTasks(with_, answer);
  EXPECT_EQ(answer.tasks[0].content_status.message(), "mark ''");
  for (const ClientOptions* const options : {&without_, &passing_}) {
    answer = AnswerOf("clear");
    internal::DecodeTasks(*options, answer);
    EXPECT_EQ(answer.tasks[0].payload, "clear");
  }
}

TEST_F(CodecTest, WhoPassesContentOnGetsItAsItCame) {
  LeaseAnswer answer = AnswerOf("secret", {{"skiplane-codec", "other"}});
  internal::DecodeTasks(passing_, answer);
  EXPECT_EQ(answer.tasks[0].payload, "secret");
  EXPECT_EQ(answer.tasks[0].headers.at("skiplane-codec"), "other");
}

TEST_F(CodecTest, AResultComesBackAndSaysWhenItCannot) {
  const auto ack =
      internal::EncodeToAck(with_, {{.lease_token = "t", .result = "r", .queue = "q"}});
  const std::string sent = ack->items(0).result();
  const auto read = [&](const ClientOptions& options, const std::string& result) {
    Task task{.queue = "q", .result = result};
    internal::DecodeResult(options, task);
    return task;
  };
  EXPECT_EQ(read(with_, sent).result, "r");
  EXPECT_EQ(read(passing_, sent).result, sent);
  EXPECT_EQ(read(without_, sent).result, "");
  EXPECT_FALSE(read(without_, sent).content_status.ok());
  EXPECT_EQ(read(with_, "clear").result, "clear");
  EXPECT_EQ(read(with_, "").result, "");
}

TEST_F(CodecTest, AWorkerNacksWhatItCannotDecodeAndGoesOn) {
  std::atomic<int> errors = 0;
  auto worker = Worker::Start(
      client_, {.queues = {{.name = "q"}}, .on_error = [&](const absl::Status&) { ++errors; }},
      [](const LeasedTask&, Attempt&) {
        ADD_FAILURE() << "a handler got it";
        return Result::Done();
      });
  ASSERT_TRUE(worker.ok()) << worker.status();
  broker_.AddTask("1");
  broker_.AddTask("2");
  ASSERT_TRUE(IsNacked("token-1"));
  ASSERT_TRUE(IsNacked("token-2"));
  (*worker)->Stop();
  EXPECT_EQ(broker_.nacked.at("token-1").error().type(), "CONTENT_NOT_DECODED");
  EXPECT_EQ(broker_.nacked.at("token-1").error().text(), "mark ''");
  EXPECT_EQ(broker_.nacked.at("token-1").disposition(), v1::NACK_DISPOSITION_RETRY);
  EXPECT_EQ(errors, 2);
}

TEST_F(CodecTest, AnOutputThatCannotBeEncodedHoldsUpNoOther) {
  // Decodes what nobody encoded, as the tasks of the FakeBroker are.
  class OneWay : public PlaceCodec {
   public:
    using PlaceCodec::PlaceCodec;
    absl::StatusOr<std::string> Decode(const ContentPlace&, absl::string_view,
                                       absl::string_view bytes) const override {
      return std::string(bytes);
    }
  };
  for (const auto& [mark, output, text] :
       {std::array{"place", "refuse", "no key yet"},
        {"a b", "output", "the codec's mark must be 1 to 128 bytes of visible ASCII"}}) {
    const std::string bad = absl::StrCat("bad ", text);
    const std::string good = absl::StrCat("good ", text);
    auto worker = Worker::Start(Connected(std::make_shared<OneWay>(mark)),
                                {.queues = {{.name = "q"}}},
                                [&, output = output](const LeasedTask& task, Attempt&) {
                                  return Result::Done(task.task_id == bad ? output : "");
                                });
    ASSERT_TRUE(worker.ok()) << worker.status();
    broker_.AddTask(bad);
    broker_.AddTask(good);
    ASSERT_TRUE(IsAcked("token-" + good));
    ASSERT_TRUE(IsNacked("token-" + bad));
    (*worker)->Stop();
    const v1::NackItem& nack = broker_.nacked.at("token-" + bad);
    EXPECT_EQ(nack.error().type(), "CONTENT_NOT_ENCODED");
    EXPECT_EQ(nack.error().text(), text);
    EXPECT_EQ(nack.disposition(), v1::NACK_DISPOSITION_RETRY);
  }
}

TEST_F(CodecTest, AWorkersOutputLeavesRoomForTheCodec) {
  for (const bool has_codec : {false, true}) {
    const Result result = Result::Done(std::string(2 << 20, 'x'));
    const AckItem item = internal::ToAckItem({.queue = "q"}, result, has_codec);
    EXPECT_EQ(item.result.size(), has_codec ? (1u << 20) - 1024 : 1u << 20);
    EXPECT_EQ(item.queue, "q");
  }
}

TEST_F(CodecTest, OneLeaseThatCannotBeDecodedIsNacked) {
  broker_.AddTask("1");
  EXPECT_EQ(client_.LeaseOne("q", absl::Seconds(1)).status().message(), "mark ''");
  EXPECT_TRUE(IsNacked("token-1"));
}

}  // namespace
}  // namespace skiplane
