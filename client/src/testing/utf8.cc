#include "client/src/testing/utf8.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace skiplane::internal {
namespace {

constexpr uint32_t kLast = 0x10FFFF;

uint32_t ByteOf(char c) { return static_cast<unsigned char>(c); }

// How many bytes a character has that begins so; 0: none does.
size_t LengthOf(uint32_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC0) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF8 ? 4 : 0;
}

// Not one that fewer bytes could say, nor half of a pair of UTF-16.
bool IsCharacter(absl::string_view bytes) {
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t character = ByteOf(bytes[0]) & (0xFFu >> (bytes.size() + 1));
  for (const char c : bytes.substr(1)) {
    if ((ByteOf(c) & 0xC0) != 0x80) return false;
    character = character << 6 | (ByteOf(c) & 0x3F);
  }
  const bool is_half = character >= 0xD800 && character < 0xE000;
  return character >= kLeast[bytes.size()] && character <= kLast && !is_half;
}

bool AreUtf8(const std::map<std::string, std::string>& headers) {
  return std::all_of(headers.begin(), headers.end(), [](const auto& header) {
    return IsUtf8(header.first) && IsUtf8(header.second);
  });
}

bool AreUtf8(const AckMore& more) {
  const auto& next = more.next_payload;
  return IsUtf8(more.next_stage) &&
         (!next || (IsUtf8(next->content_type) && AreUtf8(next->headers))) &&
         std::all_of(more.follow_ups.begin(), more.follow_ups.end(),
                     [](const NewTask& task) { return IsUtf8(task); });
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = LengthOf(ByteOf(text[0]));
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !IsCharacter(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool IsUtf8(const NewTask& task) {
  return IsUtf8(task.queue) && IsUtf8(task.content_type) && AreUtf8(task.headers) &&
         IsUtf8(task.key) && IsUtf8(task.cron) && IsUtf8(task.time_zone) && IsUtf8(task.stage);
}

bool IsUtf8(const EnqueueCall& call) {
  return IsUtf8(call.queue) && IsUtf8(call.request_id) &&
         std::all_of(call.tasks.begin(), call.tasks.end(),
                     [](const NewTask& task) { return IsUtf8(task); });
}

bool IsUtf8(const LeaseCall& call) {
  return IsUtf8(call.worker_id) && IsUtf8(call.worker_name) &&
         IsUtf8(call.client_version) && IsUtf8(call.request_id) &&
         std::all_of(call.queues.begin(), call.queues.end(), [](const LeaseQueue& queue) {
           return IsUtf8(queue.name) && IsUtf8(queue.stage);
         });
}

bool IsUtf8(const SettleItem& item) {
  if (const AckItem* const ack = std::get_if<AckItem>(&item)) return AreUtf8(ack->more);
  const TaskError& error = std::get<NackItem>(item).error;
  return IsUtf8(error.type) && IsUtf8(error.fingerprint);
}

}  // namespace skiplane::internal
