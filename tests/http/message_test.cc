#include "server/http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace skiplane::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const absl::Time kNow = absl::FromUnixSeconds(784111777);

TEST(Message, AFieldIsFoundByItsName) {
  const Fields fields = {{"host", "a"}, {"accept", "b"}, {"host", "c"}};
  EXPECT_EQ(FindField(fields, "host"), "a");
  EXPECT_EQ(FindField(fields, "accept"), "b");
  EXPECT_EQ(FindField(fields, "origin"), "");
}

TEST(Message, AnAnswerSaysHowLongItsBodyIs) {
  const Response response{200, "text/plain", "hello", {{"Allow", "GET"}}};
  EXPECT_EQ(HeadText(response, {}, kNow),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain\r\nAllow: GET\r\nContent-Length: 5\r\n"
            "X-Content-Type-Options: nosniff\r\n\r\n");
}

TEST(Message, AnAnswerInChunksHasNoLength) {
  const std::string head = HeadText({200, "", ""}, {Framing::Body::kChunks, false}, kNow);
  EXPECT_THAT(head, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
}

TEST(Message, AnAnswerWhoseBodyWasNotMadeHasNoLength) {
  const std::string head = HeadText({200, "", ""}, {Framing::Body::kUntold, false}, kNow);
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(head, Not(HasSubstr("Transfer-Encoding")));
}

TEST(Message, TheLastAnswerOfAConnectionSaysSo) {
  EXPECT_THAT(HeadText({}, {Framing::Body::kLength, true}, kNow),
              HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(HeadText({}, {Framing::Body::kLength, false}, kNow), Not(HasSubstr("Connection:")));
}

TEST(Message, AnAnswerThatHasNoBodyByItsStatusHasNoLength) {
  for (const auto& [status, line] : {std::pair(204, "HTTP/1.1 204 No Content\r\n"),
                                     std::pair(304, "HTTP/1.1 304 Not Modified\r\n")}) {
    const std::string head = HeadText({status, "", ""}, {}, kNow);
    EXPECT_THAT(head, StartsWith(line));
    EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  }
}

TEST(Message, ChunksTellTheirLengthInHexadecimalDigits) {
  EXPECT_EQ(Chunk(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(Chunk(""), "0\r\n\r\n");
}

}  // namespace
}  // namespace skiplane::http
