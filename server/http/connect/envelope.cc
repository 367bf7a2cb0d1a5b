#include "server/http/connect/envelope.h"

#include "server/base/reason.h"

namespace skiplane::http::connect {
namespace {

constexpr size_t kHeadBytes = 5;
constexpr uint8_t kCompressed = 1;

absl::Status NotOneMessage() {
  return base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                      "the body must be one message in an envelope");
}

}  // namespace

std::string Envelope(uint8_t flags, absl::string_view message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string text;
  text.reserve(kHeadBytes + message.size());
  text.push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(size >> shift));
  text.append(message.data(), message.size());
  return text;
}

absl::StatusOr<std::string> OpenOnlyEnvelope(absl::string_view body) {
  if (body.size() < kHeadBytes) return NotOneMessage();
  const auto flags = static_cast<uint8_t>(body[0]);
  if ((flags & kCompressed) != 0) {
    return base::Refuse(absl::StatusCode::kUnimplemented, "NOT_SUPPORTED",
                        "messages of streams are not taken compressed");
  }
  size_t size = 0;
  for (size_t i = 1; i < kHeadBytes; ++i) size = size << 8 | static_cast<uint8_t>(body[i]);
  if (flags != kPlain || size != body.size() - kHeadBytes) {
    return NotOneMessage();
  }
  return std::string(body.substr(kHeadBytes));
}

}  // namespace skiplane::http::connect
