// What a stream has to say and has not sent yet. Nothing more is read from a caller while that is
// much, and one message takes no more of it than its caller can receive.
#pragma once

#include <cstddef>
#include <cstdint>

#include <google/protobuf/message_lite.h>
#include <google/protobuf/repeated_ptr_field.h>

#include "server/model/limits.h"

namespace skiplane::rpc {

class Unsent {
 public:
  void Add(const google::protobuf::MessageLite& answer) {
    ++answers_;
    bytes_ += static_cast<int64_t>(answer.ByteSizeLong());
  }
  bool IsFull() const {
    return answers_ >= model::kStreamUnsentMax || bytes_ >= model::kStreamUnsentBytesMax;
  }
  bool FitsMessage(int64_t bytes_beside) const {
    return bytes_ + bytes_beside <= model::kStreamMessageBytesMax;
  }

 private:
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
