#include "server/broker/api/request_hash.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace skiplane::broker {
namespace {

// Length first, so that no two different sequences of fields give the same bytes.
void Append(std::string& bytes, absl::string_view field) {
  absl::StrAppend(&bytes, field.size(), ":", field);
}

std::string Sha256(absl::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace

uint64_t StableHash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

namespace {

// What brokers before 0.2 did not know; empty if there is none of it, so that they hash alike.
std::string RestOf(const model::NewTask& task) {
  if (task.key_policy == model::KeyPolicy::kKeep && task.version == 0 && !task.IsPeriodic() &&
      task.stage.empty()) {
    return std::string();
  }
  return absl::StrCat("rest:", static_cast<int>(task.key_policy), " ", task.version, " ",
                      task.period ? absl::ToInt64Microseconds(*task.period) : 0, " ", task.run_all,
                      " ", task.cron.size(), " ", task.cron, task.time_zone, " ", task.stage);
}

}  // namespace

std::string HashBody(const EnqueueCall& call) {
  std::string bytes;
  // A task of several queues has its own below, wherever the call names it.
  Append(bytes, call.has_several_queues ? "" : call.queue);
  for (const model::NewTask& task : call.tasks) {
    Append(bytes, task.payload);
    Append(bytes, task.content_type);
    Append(bytes, absl::StrCat(task.headers.size()));
    for (const auto& [key, value] : task.headers) {
      Append(bytes, key);
      Append(bytes, value);
    }
    Append(bytes, absl::StrCat(task.priority, " ", task.max_attempts));
    Append(bytes, task.schedule_time ? absl::StrCat(absl::ToUnixMicros(*task.schedule_time)) : "");
    Append(bytes, task.delay ? absl::StrCat(absl::ToInt64Microseconds(*task.delay)) : "");
    Append(bytes, task.key);
    const std::string rest = RestOf(task);
    if (!rest.empty()) Append(bytes, rest);
    if (call.has_several_queues) Append(bytes, task.queue.empty() ? call.queue : task.queue);
  }
  return Sha256(bytes);
}

std::string HashLeaseRequest(absl::string_view worker_id, absl::string_view request_id) {
  std::string bytes;
  Append(bytes, worker_id);
  Append(bytes, request_id);
  return absl::BytesToHexString(Sha256(bytes).substr(0, 20));
}

model::RequestHash HashChange(absl::string_view principal, absl::string_view request_id,
                              absl::string_view method, absl::string_view body) {
  std::string id;
  Append(id, principal);
  Append(id, request_id);
  std::string bytes;
  Append(bytes, method);
  Append(bytes, body);
  return {Sha256(id), Sha256(bytes)};
}

}  // namespace skiplane::broker
