// Requests of HTTP, shown at once and in pieces, whose size the first byte says: two readers that
// see the same bytes must see the same request.
#include <algorithm>
#include <string>
#include <utility>

#include "server/http/limits.h"
#include "server/http/request_parser.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

using Event = http::RequestParser::Event;

constexpr size_t kBodyMost = 4 << 10;

struct Parsed {
  Event event = Event::kMore;
  http::Head head;
  std::string body;
  size_t taken = 0;
  bool keeps_connection = false;
  bool expects_continue = false;
};

// As a connection does it: what was not taken is shown again, with more behind it.
Parsed ParseInPieces(absl::string_view bytes, size_t piece) {
  http::RequestParser parser(http::Limits().head_bytes, kBodyMost);
  Parsed parsed;
  bool has_head = false;
  for (size_t shown = 0; shown < bytes.size() && parsed.event <= Event::kHead;) {
    shown = std::min(bytes.size(), shown + piece);
    for (bool goes_on = true; goes_on;) {
      const auto step = parser.Read(bytes.substr(parsed.taken, shown - parsed.taken));
      Demand(step.taken <= shown - parsed.taken, "no more is taken than was shown");
      Demand(step.event != Event::kHead || !std::exchange(has_head, true), "a head is told once");
      parsed.taken += step.taken;
      parsed.event =
          step.event == Event::kHead && parser.IsDone() ? Event::kDone : step.event;
      goes_on = parsed.taken < shown &&
                (parsed.event == Event::kHead || (parsed.event == Event::kMore && step.taken > 0));
    }
    Demand(parser.body_bytes() <= kBodyMost, "a body is not too large");
  }
  if (parsed.event != Event::kDone) return parsed;
  Demand(has_head && parser.IsDone(), "what is done has a head");
  parsed.head = parser.head();
  parsed.keeps_connection = parser.KeepsConnection();
  parsed.expects_continue = parser.ExpectsContinue();
  parsed.body = parser.TakeBody();
  return parsed;
}

void ReadHttpRequest(absl::string_view bytes) {
  const size_t piece = 1 + TakeChoice(&bytes, 32);
  const Parsed whole = ParseInPieces(bytes, bytes.size());
  const Parsed pieces = ParseInPieces(bytes, piece);
  Demand((whole.event == Event::kDone) == (pieces.event == Event::kDone),
         "a request is whole, however it comes");
  if (whole.event != Event::kDone) return;
  Demand(whole.taken == pieces.taken, "a request ends where it ends");
  Demand(whole.body == pieces.body, "a body is the same, however it comes");
  Demand(whole.head.method == pieces.head.method && whole.head.path == pieces.head.path &&
             whole.head.fields == pieces.head.fields &&
             whole.head.minor_version == pieces.head.minor_version,
         "a head is the same, however it comes");
  Demand(whole.keeps_connection == pieces.keeps_connection &&
             whole.expects_continue == pieces.expects_continue,
         "what follows is the same, however it comes");
  Demand(!whole.head.path.empty() && whole.head.path.front() == '/', "a path begins with a slash");
  Demand(whole.head.path.find('?') == std::string::npos, "a path has no query");
  for (const auto& [name, value] : whole.head.fields) {
    Demand(value.find_first_of("\r\n\0", 0, 3) == std::string::npos,
           "a value is one line");
    for (const char c : name) Demand(c > ' ' && !(c >= 'A' && c <= 'Z'), "a name is lower case");
  }
}

const Target kHttpRequest("http_request", &ReadHttpRequest);

}  // namespace
}  // namespace skiplane::fuzz
