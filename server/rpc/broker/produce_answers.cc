#include "server/rpc/broker/produce_answers.h"

#include <utility>

#include <google/protobuf/io/coded_stream.h>

#include "absl/strings/string_view.h"

namespace skiplane::rpc {
namespace {

// How many bytes the first answer has, with its tag and its length.
size_t FirstAnswer(absl::string_view bytes) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  uint32_t size = 0;
  stream.ReadTag();
  stream.ReadVarint32(&size);
  return static_cast<size_t>(stream.CurrentPosition()) + size;
}

}  // namespace

void ProduceAnswers::Add(const v1::ProduceResponse& message) {
  const size_t before = bytes_.size();
  message.AppendToString(&bytes_);
  unsent_.Add(static_cast<int64_t>(bytes_.size() - before));
}

std::string ProduceAnswers::Take(int64_t bytes_max) {
  if (bytes_.empty()) return {};  // spares what all streams share
  unsent_.Clear();
  std::string first = std::exchange(bytes_, {});
  if (static_cast<int64_t>(first.size()) <= bytes_max) return first;
  const absl::string_view all = first;
  size_t end = FirstAnswer(all);
  for (size_t next = end; static_cast<int64_t>(next) <= bytes_max;) {
    end = next;
    next += FirstAnswer(all.substr(end));
  }
  bytes_ = std::string(all.substr(end));
  for (absl::string_view rest = bytes_; !rest.empty();) {
    const size_t size = FirstAnswer(rest);
    unsent_.Add(static_cast<int64_t>(size));
    rest.remove_prefix(size);
  }
  first.resize(end);
  return first;
}

}  // namespace skiplane::rpc
