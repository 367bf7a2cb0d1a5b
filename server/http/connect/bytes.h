// gRPC's bytes and ours.
#pragma once

#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

namespace skiplane::http::connect {

inline grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// Of a buffer that is not needed any more.
inline std::string TakeBytes(grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  buffer.Dump(&slices);
  std::string bytes;
  bytes.reserve(buffer.Length());
  buffer.Clear();
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace skiplane::http::connect
