#include "tests/rpc/serve/raw_stream.h"

#include <vector>

#include "tests/support/require.h"

namespace skiplane::rpc {

RawStream::RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const std::string& bytes)
    : stub_(channel) {
  context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
  call_ = stub_.PrepareCall(&context_, method, &queue_);
  call_->StartCall(this);
  Await();
  const grpc::Slice slice(bytes);
  call_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), this);
  Await();
}

RawStream::~RawStream() {
  context_.TryCancel();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool RawStream::Await() {
  void* tag = nullptr;
  bool ok = false;
  testing::Require(queue_.Next(&tag, &ok), "the completion queue ended");
  return ok;
}

std::optional<std::string> RawStream::Read() {
  grpc::ByteBuffer message;
  call_->Read(&message, this);
  if (!Await()) return std::nullopt;
  std::vector<grpc::Slice> slices;
  testing::Require(message.Dump(&slices).ok(), "the message cannot be read");
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::Status RawStream::Finish() {
  grpc::Status status;
  call_->Finish(&status, this);
  Await();
  return status;
}

std::string HealthRequest(const std::string& service) {
  if (service.empty()) return "";
  return "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
}

int HealthOf(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  RawStream check(channel, "/grpc.health.v1.Health/Check", HealthRequest(service));
  const std::optional<std::string> reply = check.Read();
  if (!reply || reply->size() != 2 || reply->front() != '\x08') return -1;
  return reply->back();
}

}  // namespace skiplane::rpc
