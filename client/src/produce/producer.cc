#include "client/src/produce/producer.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "client/src/send.h"
#include "client/src/unary_call.h"

namespace skiplane::internal {
namespace {

using std::chrono::steady_clock;

constexpr int kEnqueuesPerMessage = 1000;
constexpr size_t kBytesPerMessage = size_t{3} << 20;
// What is on its way at most; the rest waits here.
constexpr int kTasksOnStream = 10'000;
constexpr size_t kBytesOnStream = size_t{16} << 20;

Timer::Time After(absl::Duration duration) {
  // Far below what the clock can say.
  return steady_clock::now() + absl::ToChronoNanoseconds(std::min(duration, absl::Hours(100'000)));
}

}  // namespace

PendingCall Producer::Send(std::shared_ptr<Connection> connection, v1::EnqueueRequest request,
                           absl::Duration timeout,
                           absl::AnyInvocable<void(Enqueue::Answer)> done) {
  auto enqueue = std::make_shared<Enqueue>();
  enqueue->self = enqueue;
  enqueue->producer = weak_from_this();
  enqueue->connection = std::move(connection);
  enqueue->done = std::move(done);
  enqueue->deadline = After(timeout);
  enqueue->tasks = request.tasks_size();
  enqueue->message = std::make_unique<v1::ProduceEnqueue>();
  *enqueue->message->mutable_request() = std::move(request);
  enqueue->bytes = enqueue->message->ByteSizeLong();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_ = steady_clock::now();
    queue_.push_back(enqueue);
    if (enqueue->deadline < earliest_deadline_) {
      earliest_deadline_ = enqueue->deadline;
      SetTimerAt(enqueue->deadline);
    }
  }
  Go();
  return PendingCall(enqueue);
}

void Producer::Go() {
  std::shared_ptr<ProduceStream> stream;
  std::shared_ptr<Connection> connection;
  Work work;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!queue_.empty() && queue_.front()->place == Enqueue::Place::kOver) queue_.pop_front();
    if (queue_.empty()) return;
    if (steady_clock::now() < unary_until_) {
      GiveQueueAway(work);
    } else if (stream_ == nullptr) {
      stream_ = std::make_shared<ProduceStream>(shared_from_this(), mutex_);
      connection = queue_.front()->connection;
    }
    stream = stream_;
  }
  Do(std::move(work));
  if (connection != nullptr) {
    stream->Begin(*connection, stream,
                  [](Backend& backend, grpc::ClientContext* context, ProduceStream* reactor) {
                    backend.broker->async()->Produce(context, reactor);
                  });
  } else if (stream != nullptr) {
    stream->Push();
  }
}

bool Producer::Fill(ProduceStream* stream, v1::ProduceRequest* request) {
  if (stream != stream_.get()) return false;
  size_t bytes = 0;
  while (!queue_.empty() && request->enqueues_size() < kEnqueuesPerMessage) {
    const EnqueuePtr& next = queue_.front();
    if (next->place == Enqueue::Place::kOver) {
      queue_.pop_front();
      continue;
    }
    const bool has_room = sent_.empty() || (sent_tasks_ + next->tasks <= kTasksOnStream &&
                                            sent_bytes_ + next->bytes <= kBytesOnStream);
    if (!has_room || (bytes > 0 && bytes + next->bytes > kBytesPerMessage)) break;
    bytes += next->bytes;
    sent_tasks_ += next->tasks;
    sent_bytes_ += next->bytes;
    ++next->attempt;
    next->place = Enqueue::Place::kStream;
    next->stream = stream;
    next->number = ++number_;
    next->message->set_number(number_);
    request->mutable_enqueues()->AddAllocated(next->message.release());
    sent_.emplace(number_, next);
    stream->writing.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return request->enqueues_size() > 0;
}

// Each message comes back to its enqueue, which may have to be sent again.
void Producer::Sent(ProduceStream* stream, v1::ProduceRequest* request) {
  while (!stream->writing.empty()) {
    std::unique_ptr<v1::ProduceEnqueue> message(request->mutable_enqueues()->ReleaseLast());
    static_cast<Enqueue*>(stream->writing.back().get())->message = std::move(message);
    stream->writing.pop_back();
  }
}

bool Producer::IsFor(const v1::EnqueueRequest& request) {
  return !request.request_id().empty() && request.ByteSizeLong() <= kBytesPerMessage;
}

void Producer::Do(Work work) {
  for (const EnqueuePtr& enqueue : work.unary) CallUnary(enqueue);
  for (Over& over : work.over) over.enqueue->Finish(std::move(over.answer));
}

void Producer::CallUnary(const EnqueuePtr& enqueue) {
  const auto rest = absl::FromChrono(enqueue->deadline - steady_clock::now());
  PendingCall call = UnaryCall<v1::EnqueueRequest, v1::EnqueueResponse>::Start(
      enqueue->connection,
      {.send = Via(&BrokerMethods::Enqueue),
       .request = std::move(*enqueue->message->mutable_request()),
       .timeout = rest,
       .repeatable = true,
       .done = [enqueue](Enqueue::Answer answer) { enqueue->Finish(std::move(answer)); }});
  bool is_cancelled = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    enqueue->unary = call;
    is_cancelled = enqueue->is_cancelled;
  }
  if (is_cancelled) call.Cancel();
}

void Producer::Close() {
  std::shared_ptr<ProduceStream> stream;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    timer_.Cancel();
    stream = std::exchange(stream_, nullptr);
    is_closed_ = true;
  }
  if (stream != nullptr) stream->Close();
}

}  // namespace skiplane::internal
