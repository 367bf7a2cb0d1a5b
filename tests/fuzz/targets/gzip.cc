// Bodies that come compressed.
#include "server/http/gzip.h"

#include <algorithm>
#include <string>

#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

constexpr size_t kUnpackedMax = 1 << 16;

void UnpackAny(absl::string_view bytes) {
  size_t asked = 0;
  const auto text = http::Gunzip(bytes, kUnpackedMax, [&asked](size_t wanted) {
    asked = std::max(asked, wanted);
    return true;
  });
  Demand(asked <= kUnpackedMax + 1, "no more memory is asked for than a body may have");
  if (!text.ok()) return;
  Demand(text->size() <= kUnpackedMax && text->size() <= asked, "what is unpacked was asked for");
}

void UnpackPacked(const std::string& text) {
  const auto has_room = [](size_t) { return true; };
  const std::string packed = http::Gzip(text);
  const auto same = http::Gunzip(packed, text.size(), has_room);
  Demand(same.ok() && *same == text, "what was packed is unpacked");
  if (text.empty()) return;
  Demand(absl::IsOutOfRange(http::Gunzip(packed, text.size() - 1, has_room).status()),
         "what is too large is refused");
  Demand(http::Gunzip(packed, text.size(), [](size_t) { return false; }).status().code() ==
             absl::StatusCode::kResourceExhausted,
         "what there is no room for is refused");
}

void ReadGzip(absl::string_view bytes) {
  UnpackAny(bytes);
  UnpackPacked(std::string(bytes));
}

const Target kGzip("gzip", &ReadGzip);

}  // namespace
}  // namespace skiplane::fuzz
