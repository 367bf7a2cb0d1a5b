// What a stream has to say and has not sent yet. Nothing more is read from a caller while that is
// much, and one message takes no more of it than its caller can receive.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <google/protobuf/message_lite.h>
#include <google/protobuf/repeated_ptr_field.h>

#include "server/model/limits.h"

namespace skiplane::rpc {

// The same of all streams together, in bytes. Thread-safe.
using UnsentOfAll = std::atomic<int64_t>;

class Unsent {
 public:
  // `all` outlives it, and counts it.
  explicit Unsent(UnsentOfAll* all) : all_(*all) {}
  ~Unsent() { Clear(); }
  Unsent(const Unsent&) = delete;
  Unsent& operator=(const Unsent&) = delete;

  void Add(const google::protobuf::MessageLite& answer) {
    Add(static_cast<int64_t>(answer.ByteSizeLong()));
  }
  // One answer.
  void Add(int64_t bytes) {
    ++answers_;
    bytes_ += bytes;
    all_ += bytes;
  }
  void Clear() {
    answers_ = 0;
    all_ -= std::exchange(bytes_, 0);
  }
  // Where thousands of streams do not read, each may have little.
  bool IsFull() const {
    const bool is_crowded = all_ > model::kUnsentBytesOfAllMax;
    const int64_t bytes_max =
        is_crowded ? model::kStreamUnsentBytesLeft : model::kStreamUnsentBytesMax;
    return answers_ >= model::kStreamUnsentMax || bytes_ >= bytes_max;
  }
  int64_t bytes() const { return bytes_; }
  bool FitsMessage(int64_t bytes_beside) const {
    return bytes_ + bytes_beside <= model::kStreamMessageBytesMax;
  }

 private:
  UnsentOfAll& all_;
  int answers_ = 0;
  int64_t bytes_ = 0;
};

// Leaves in `answers` the first ones, of at most `*room` bytes, and takes these off it. Moves the
// others to `rest`, where `unsent` counts them.
template <typename Answer>
void CutAnswers(int64_t* room, google::protobuf::RepeatedPtrField<Answer>* answers,
                google::protobuf::RepeatedPtrField<Answer>* rest, Unsent* unsent) {
  int kept = 0;
  for (; kept < answers->size(); ++kept) {
    const auto bytes = static_cast<int64_t>(answers->Get(kept).ByteSizeLong());
    if (bytes > *room) break;
    *room -= bytes;
  }
  for (int i = kept; i < answers->size(); ++i) {
    unsent->Add(answers->Get(i));
    rest->Add()->Swap(answers->Mutable(i));
  }
  answers->DeleteSubrange(kept, answers->size() - kept);
}

}  // namespace skiplane::rpc
