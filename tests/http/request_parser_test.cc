#include "server/http/request_parser.h"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace skiplane::http {
namespace {

using Event = RequestParser::Event;

constexpr char kPost[] =
    "POST /a/b?c=d HTTP/1.1\r\nHost: x\r\nX-Name:  Value \r\nContent-Length: 4\r\n\r\nbody";

// What is read until something ends it, all at once.
Event ReadAll(RequestParser& parser, absl::string_view bytes) {
  for (;;) {
    const RequestParser::Step step = parser.Read(bytes);
    bytes.remove_prefix(step.taken);
    if (step.event == Event::kHead && parser.IsDone()) return Event::kDone;
    if (step.event != Event::kHead) return step.event;
  }
}

TEST(RequestParser, ReadsARequestAndLeavesWhatIsBehindIt) {
  RequestParser parser(1000, 1000);
  const std::string bytes = std::string(kPost) + "GET";
  RequestParser::Step step = parser.Read(bytes);
  EXPECT_EQ(step.event, Event::kHead);
  EXPECT_EQ(parser.head().method, "POST");
  EXPECT_EQ(parser.head().path, "/a/b");
  EXPECT_EQ(parser.head().Find("x-name"), "Value");
  EXPECT_FALSE(parser.IsDone());
  step = parser.Read(absl::string_view(bytes).substr(step.taken));
  EXPECT_EQ(step.event, Event::kDone);
  EXPECT_EQ(step.taken, 4U);
  EXPECT_EQ(parser.TakeBody(), "body");
  EXPECT_TRUE(parser.KeepsConnection());
}

TEST(RequestParser, TakesBytesAsTheyCome) {
  RequestParser parser(1000, 1000);
  std::string unread;
  Event last = Event::kMore;
  for (const char byte : std::string(kPost)) {
    unread.push_back(byte);
    const RequestParser::Step step = parser.Read(unread);
    unread.erase(0, step.taken);
    last = step.event;
  }
  EXPECT_EQ(last, Event::kDone);
  EXPECT_EQ(parser.TakeBody(), "body");
}

TEST(RequestParser, PutsChunksTogether) {
  RequestParser parser(1000, 1000);
  EXPECT_EQ(ReadAll(parser, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nTrailer: z\r\n\r\n"),
            Event::kDone);
  EXPECT_EQ(parser.TakeBody(), "abc");
}

// However they are cut: what ends a body may come byte by byte.
TEST(RequestParser, TakesChunksAsTheyCome) {
  for (const std::string chunks : {"0\r\n\r\n", "0\r\nTrailer: z\r\n\r\n",
                                   "2\r\nab\r\n0\r\n\r\n", "1;x=y\r\na\r\n1\r\nb\r\n0\r\n\r\n"}) {
    RequestParser parser(1000, 1000);
    std::string unread;
    Event last = Event::kMore;
    for (const char byte : "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks) {
      ASSERT_TRUE(last == Event::kMore || last == Event::kHead) << chunks;
      unread.push_back(byte);
      const RequestParser::Step step = parser.Read(unread);
      unread.erase(0, step.taken);
      last = step.event;
    }
    EXPECT_EQ(last, Event::kDone) << chunks;
    EXPECT_EQ(unread, "");
    EXPECT_EQ(parser.TakeBody(), chunks[0] == '0' ? "" : "ab");
  }
}

TEST(RequestParser, AWholeUrlCountsInPlaceOfHost) {
  for (const auto& [target, host, path] :
       {std::tuple("http://a:80/b?c", "a:80", "/b"), std::tuple("HTTPS://a", "a", "/"),
        std::tuple("http://a?b/c", "a", "/"), std::tuple("/http://a/", "x", "/http://a/")}) {
    RequestParser parser(1000, 1000);
    EXPECT_EQ(ReadAll(parser, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n")),
              Event::kDone);
    EXPECT_EQ(parser.head().Find("host"), host) << target;
    EXPECT_EQ(parser.head().path, path) << target;
  }
}

TEST(RequestParser, RefusesWhatIsTooLarge) {
  RequestParser head(100, 1000);
  EXPECT_EQ(ReadAll(head, "GET / HTTP/1.1\r\nX: " + std::string(200, 'x')), Event::kHeadTooLarge);
  RequestParser body(1000, 3);
  EXPECT_EQ(ReadAll(body, kPost), Event::kBodyTooLarge);
  EXPECT_EQ(body.head().method, "POST");  // who asked is known
  RequestParser chunks(1000, 3);
  EXPECT_EQ(ReadAll(chunks, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "2\r\nab\r\n2\r\ncd\r\n"),
            Event::kBodyTooLarge);
  RequestParser huge(1000, 3);
  EXPECT_EQ(ReadAll(huge, "POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n"),
            Event::kBodyTooLarge);
}

TEST(RequestParser, ManySmallFieldsAreTooLargeTogether) {
  RequestParser parser(1000, 1000);
  std::string unread = "GET / HTTP/1.1\r\nA";
  size_t shown = unread.size();
  Event last = Event::kMore;
  while (last == Event::kMore && shown < 2000) {
    const RequestParser::Step step = parser.Read(unread);
    unread.erase(0, step.taken);
    last = step.event;
    // Each is whole when it is shown, and the next one has begun.
    const std::string field = ": 0123456789a\r\nA";
    unread += field;
    shown += field.size();
  }
  EXPECT_EQ(last, Event::kHeadTooLarge);
}

TEST(RequestParser, WhatStandsBetweenChunksHasABound) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string begin : {"0\r\nX: ", "1;", "000", "0\r\n"}) {
    RequestParser parser(1000, 1000);
    const RequestParser::Step step = parser.Read(head);
    EXPECT_EQ(step.event, Event::kHead);
    std::string unread = begin;
    Event last = Event::kMore;
    for (int i = 0; i < 100 && last == Event::kMore; ++i) {
      unread += begin == "0\r\n" ? "Y: 0123456789\r\n" + std::string(186, '0')
                                 : std::string(200, '0');
      const RequestParser::Step more = parser.Read(unread);
      unread.erase(0, more.taken);
      last = more.event;
    }
    EXPECT_EQ(last, Event::kMalformed) << begin;
  }
}

TEST(RequestParser, TakesNoMemoryForWhatWasOnlyAnnounced) {
  RequestParser parser(1000, 1 << 30);
  ReadAll(parser, "POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\nx");
  EXPECT_EQ(parser.body_bytes(), 1U);
  EXPECT_LT(parser.TakeBody().capacity(), 1000U);
}

TEST(RequestParser, RefusesWhatIsNoRequest) {
  for (const char* bytes :
       {"\x16\x03\x01\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET nowhere HTTP/1.1\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nNo colon\r\n\r\n", "GET / HTTP/1.1\r\nA b: c\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\nab",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nab"}) {
    RequestParser parser(1000, 1000);
    EXPECT_EQ(ReadAll(parser, bytes), Event::kMalformed) << bytes;
  }
}

TEST(RequestParser, KnowsWhatTheCallerWantsOfTheConnection) {
  RequestParser closes(1000, 1000);
  ReadAll(closes, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_FALSE(closes.KeepsConnection());
  RequestParser old(1000, 1000);
  ReadAll(old, "GET / HTTP/1.0\r\n\r\n");
  EXPECT_FALSE(old.KeepsConnection());
  RequestParser old_kept(1000, 1000);
  ReadAll(old_kept, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_FALSE(old_kept.KeepsConnection()) << "its answer would have to say so";
  EXPECT_EQ(old.head().minor_version, 0);
  RequestParser asks(1000, 1000);
  ReadAll(asks, "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_TRUE(asks.ExpectsContinue());
}

}  // namespace
}  // namespace skiplane::http
