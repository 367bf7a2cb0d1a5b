#include "server/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/http/limits.h"

namespace skiplane::http {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window, with gzip's header
constexpr int kGzipMemory = 8;
// As many as a body may have that always has room: so it has that packed, too.
constexpr size_t kPieceBytes = Limits{}.free_body_bytes;

// "gzip", unless its weight is 0: "gzip;q=0.0".
bool IsWish(absl::string_view coding) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(coding, absl::MaxSplits(';', 1));
  const absl::string_view name = absl::StripAsciiWhitespace(parts.first);
  absl::string_view weight = absl::StripAsciiWhitespace(parts.second);
  const bool is_refused = absl::ConsumePrefix(&weight, "q=0") &&
                          weight.find_first_not_of(".0") == absl::string_view::npos;
  return absl::EqualsIgnoreCase(name, "gzip") && !is_refused;
}

}  // namespace

bool TakesGzip(const Head& head) {
  for (const auto& [name, value] : head.fields) {
    if (name != "accept-encoding") continue;
    const std::vector<absl::string_view> codings = absl::StrSplit(value, ',');
    if (std::any_of(codings.begin(), codings.end(), IsWish)) return true;
  }
  return false;
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, kGzipMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(is_done ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

void Pack(const Head& head, Response* response) {
  if (!TakesGzip(head)) return;
  std::string packed = Gzip(response->body);
  if (packed.empty()) return;
  response->body = std::move(packed);
  response->fields.emplace_back("Content-Encoding", "gzip");
}

absl::StatusOr<std::string> Gunzip(absl::string_view packed, size_t max,
                                   absl::FunctionRef<bool(size_t bytes)> has_room) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to read a compressed body");
  }
  const absl::Cleanup end = [&stream] { inflateEnd(&stream); };
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK && text.size() <= max) {
    const size_t before = text.size();
    const size_t size = std::min(max + 1, before + kPieceBytes);
    if (!has_room(size)) return absl::ResourceExhaustedError(kNoRoom);
    text.resize(size);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(text.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  if (text.size() > max) return absl::OutOfRangeError("the body is too large when it is unpacked");
  if (result != Z_STREAM_END || stream.avail_in > 0) {
    return absl::InvalidArgumentError("the body is not what gzip makes");
  }
  return text;
}

}  // namespace skiplane::http
