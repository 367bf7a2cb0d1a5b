// The same calls at a whole broker and at an InMemoryBroker: both have to say the same.
#include <cstdint>

#include "skiplane/error.h"
#include "skiplane/testing.h"
#include "tests/client/broker_fixture.h"

namespace skiplane {
namespace {

// Makes calls and notes what it was told.
class Caller {
 public:
  Caller(Producer& producer, Leaser& leaser, QueueAdmin& admin)
      : producer_(producer), leaser_(leaser), admin_(admin) {}

  void MakeQueue(const std::string& name, const QueueSettings& settings = {}) {
    Note(absl::StrCat("queue ", name), admin_.CreateQueue(name, settings, 1).status());
  }

  std::string Put(const std::string& queue, NewTask task) {
    const auto made = producer_.Enqueue(queue, std::move(task));
    if (!made.ok()) {
      Note("put", made.status());
      return "";
    }
    notes_.push_back(absl::StrCat("put ", static_cast<int>(made->outcome), " ", made->existing,
                                  " ", static_cast<int>(made->state)));
    return made->task_id;
  }

  LeasedTask Take(const std::string& queue, const std::string& stage = "") {
    LeaseCall call{.worker_id = "w", .wait = absl::Seconds(60)};
    call.queues.push_back({.name = queue, .stage = stage});
    return Take(std::move(call));
  }

  LeasedTask Take(LeaseCall call) {
    auto answer = leaser_.Lease(std::move(call));
    if (!answer.ok() || answer->tasks.empty()) {
      Note("nothing", answer.status());
      return {};
    }
    LeasedTask& task = answer->tasks.front();
    notes_.push_back(absl::StrCat(
        "took ", task.payload, " ", task.attempt, "/", task.max_attempts, " ", task.stage, " ",
        task.last_error ? task.last_error->type : "-", " ",
        task.last_progress ? task.last_progress->message : "-", " ", task.version.value_or(0)));
    return std::move(task);
  }

  void PutAll(EnqueueCall call) {
    Note("put all", producer_.Enqueue(std::move(call)).status());
  }

  void Settle(SettleItem item) {
    const auto results = leaser_.Settle({std::move(item)});
    if (!results.ok()) return Note("settle", results.status());
    const SettleResult& result = results->front();
    Note(absl::StrCat("settled ", static_cast<int>(result.outcome), " ",
                      static_cast<int>(result.state), " ", result.stage, " ",
                      result.schedule_time.has_value(), " ", result.follow_ups.size()),
         result.refusal);
  }

  void Ack(const LeasedTask& task, AckMore more = {}) {
    Settle(AckItem{.lease_token = task.lease_token, .more = std::move(more)});
  }

  void Nack(const LeasedTask& task, Disposition disposition,
            std::optional<absl::Duration> delay = std::nullopt) {
    Settle(NackItem{.lease_token = task.lease_token,
                    .disposition = disposition,
                    .retry_delay = delay,
                    .error = {.type = "Oh"}});
  }

  void Beat(const LeasedTask& task) {
    const auto answer = leaser_.Heartbeat(
        {.worker_id = "w",
         .leases = {{.lease_token = task.lease_token, .progress = TaskProgress{0.5, "half"}}}});
    notes_.push_back(absl::StrCat("beat ", answer.ok() ? static_cast<int>(answer->states[0]) : 9));
  }

  // Times in minutes since the task was made.
  void Look(const std::string& id) {
    const auto task = producer_.GetTask(id);
    if (!task.ok()) return Note("look", task.status());
    const int64_t minutes =
        absl::ToInt64Minutes(task->schedule_time - task->create_time + absl::Seconds(30));
    notes_.push_back(absl::StrCat(
        "is ", static_cast<int>(task->state), " ", task->attempt_count, "/", task->max_attempts,
        " ", task->priority, " ", task->stage, " ", task->version.value_or(0), " ",
        task->rerun_pending, " ", task->end_time.has_value(), " ",
        task->last_error ? task->last_error->type : "-", " at ", minutes));
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void Note(const std::string& what, const absl::Status& status) {
    notes_.push_back(absl::StrCat(what, " ", static_cast<int>(status.code()), " ",
                                  ErrorReason(status), " ", ErrorField(status)));
  }

  Producer& producer_;
  Leaser& leaser_;
  QueueAdmin& admin_;
  std::vector<std::string> notes_;
};

class SameAsBroker : public BrokerTest {
 protected:
  template <typename Play>
  void Compare(Play play) {
    Caller real(client(), client(), client());
    play(real);
    InMemoryBroker broker({.creates_queues = false});
    Caller memory(broker, broker, broker);
    play(memory);
    EXPECT_GT(real.notes().size(), 3u);
    for (size_t i = 0; i < real.notes().size() && i < memory.notes().size(); ++i) {
      ASSERT_EQ(memory.notes()[i], real.notes()[i]) << "note " << i << ", after "
                                                    << real.notes()[i > 0 ? i - 1 : 0];
    }
    EXPECT_EQ(memory.notes().size(), real.notes().size());
  }
};

enum class Known { kReady, kDelayed, kLeased, kSucceeded, kFailed };

// Brings a task with a key into a state, enqueues the key again, and lets it go on.
void Repeat(Caller& caller, const std::string& queue, Known known, NewTask first, NewTask second) {
  caller.MakeQueue(queue);
  if (known == Known::kDelayed) first.delay = absl::Hours(1);
  const std::string id = caller.Put(queue, first);
  LeasedTask task;
  if (known >= Known::kLeased) task = caller.Take(queue);
  if (known == Known::kSucceeded) caller.Ack(task);
  if (known == Known::kFailed) caller.Nack(task, Disposition::kFail);
  caller.Put(queue, second);
  caller.Look(id);
  if (known != Known::kLeased) return;
  caller.Ack(task);
  caller.Look(id);
}

void PlayKeys(Caller& caller, std::optional<int64_t> first, std::optional<int64_t> second) {
  int count = 0;
  for (const KeyPolicy policy :
       {KeyPolicy::kKeep, KeyPolicy::kKeepUnfinished, KeyPolicy::kRerunIfNewer,
        KeyPolicy::kReplaceWaiting, KeyPolicy::kReject}) {
    for (const Known known :
         {Known::kReady, Known::kDelayed, Known::kLeased, Known::kSucceeded, Known::kFailed}) {
      Repeat(caller, absl::StrCat("keys", ++count), known,
             {.payload = "old", .key = "k", .version = first},
             {.payload = "new", .priority = 3, .key = "k", .key_policy = policy,
              .version = second});
    }
  }
}

TEST_F(SameAsBroker, KeysWithANewerVersion) {
  Compare([](Caller& caller) { PlayKeys(caller, 1, 2); });
}

TEST_F(SameAsBroker, KeysWithAnOlderVersion) {
  Compare([](Caller& caller) { PlayKeys(caller, 2, 2); });
}

TEST_F(SameAsBroker, KeysWithoutVersions) {
  Compare([](Caller& caller) { PlayKeys(caller, std::nullopt, std::nullopt); });
}

TEST_F(SameAsBroker, DeclaredSchedules) {
  Compare([](Caller& caller) {
    int count = 0;
    const NewTask hourly{.payload = "old", .key = "k", .key_policy = KeyPolicy::kSchedule,
                         .period = absl::Hours(1)};
    NewTask content = hourly;
    content.payload = "new";
    NewTask schedule = hourly;
    schedule.period = absl::Hours(2);
    NewTask later = schedule;
    later.delay = absl::Minutes(10);
    for (const NewTask& second : {hourly, content, schedule, later}) {
      for (const Known known : {Known::kReady, Known::kDelayed, Known::kLeased,
                                Known::kSucceeded}) {
        Repeat(caller, absl::StrCat("declared", ++count), known, hourly, second);
      }
      Repeat(caller, absl::StrCat("plain", count), Known::kFailed, {.key = "k"}, second);
    }
  });
}

TEST_F(SameAsBroker, AttemptsThatFail) {
  Compare([](Caller& caller) {
    caller.MakeQueue("q");
    const std::string id = caller.Put("q", {.payload = "a", .max_attempts = 2});
    LeasedTask task = caller.Take("q");
    caller.Beat(task);
    caller.Nack(task, Disposition::kRelease);
    caller.Look(id);
    task = caller.Take("q");
    caller.Nack(task, Disposition::kRetry, absl::ZeroDuration());
    caller.Nack(task, Disposition::kFail);
    caller.Ack(task);
    task = caller.Take("q");
    caller.Nack(task, Disposition::kRetry);
    caller.Look(id);
    const std::string waits = caller.Put("q", {.payload = "b"});
    caller.Nack(caller.Take("q"), Disposition::kRetry);
    caller.Look(waits);
    const std::string periodic = caller.Put("q", {.max_attempts = 1, .period = absl::Hours(1)});
    caller.Nack(caller.Take("q"), Disposition::kRetry);
    caller.Look(periodic);
    const std::string again = caller.Put("q", {.payload = "c"});
    caller.Nack(caller.Take("q"), Disposition::kRetry, absl::ZeroDuration());
    task = caller.Take("q");
    caller.Beat(task);
    caller.Ack(task);
    caller.Look(again);
    const std::string runs = caller.Put("q", {.period = absl::Hours(1)});
    caller.Nack(caller.Take("q"), Disposition::kRetry, absl::ZeroDuration());
    caller.Ack(caller.Take("q"));
    caller.Look(runs);
  });
}

TEST_F(SameAsBroker, RetriesOfEachPolicy) {
  Compare([](Caller& caller) {
    const RetryPolicy policies[] = {
        {.kind = RetryKind::kLinear, .base_delay = absl::Minutes(7)},
        {.kind = RetryKind::kFixed, .base_delay = absl::Minutes(3)},
        {.kind = RetryKind::kExponential, .base_delay = absl::Minutes(1), .factor = 3},
        {.kind = RetryKind::kExponential, .max_delay = absl::Minutes(2)},
        {.kind = RetryKind::kTable, .delays = {absl::Minutes(4), absl::Minutes(9)}}};
    int count = 0;
    for (const RetryPolicy& policy : policies) {
      const std::string queue = absl::StrCat("retry", ++count);
      caller.MakeQueue(queue, {.retry = policy});
      const std::string id = caller.Put(queue, {});
      for (int i = 0; i < 3; ++i) {
        caller.Nack(caller.Take(queue), Disposition::kRetry, absl::ZeroDuration());
      }
      caller.Nack(caller.Take(queue), Disposition::kRetry);
      caller.Look(id);
    }
  });
}

TEST_F(SameAsBroker, StagesAndFollowUps) {
  Compare([](Caller& caller) {
    caller.MakeQueue("line", Stages({"a", "b", "c"}));
    caller.MakeQueue("plain");
    const std::string id = caller.Put("line", {.payload = "p", .max_attempts = 7});
    caller.Ack(caller.Take("line"), {.next_payload = NextPayload{.payload = "for b"}});
    caller.Look(id);
    LeasedTask task = caller.Take("line");
    caller.Ack(task, {.next_stage = "none"});
    caller.Ack(task, {.follow_ups = {{.queue = "plain"}, {.queue = "missing"}}});
    caller.Ack(task, {.follow_ups = {{.payload = "next", .priority = 40000, .queue = "plain"}}});
    caller.Ack(task, {.next_stage = "a", .follow_ups = {{.payload = "next", .queue = "plain"}}});
    caller.Ack(task, {});
    caller.Look(id);
    caller.Take("plain");
    caller.Ack(caller.Take("line", "a"), {.finish = true});
    caller.Look(id);
    const std::string other = caller.Put("line", {.stage = "b"});
    caller.Nack(caller.Take("line"), Disposition::kRetry, absl::ZeroDuration());
    task = caller.Take("line");
    caller.Beat(task);
    caller.Ack(task);
    caller.Look(other);
    caller.Take("line");
  });
}

TEST_F(SameAsBroker, Refusals) {
  Compare([](Caller& caller) {
    caller.MakeQueue("q", {.max_payload_bytes = 10});
    caller.MakeQueue("no name");
    caller.MakeQueue("bad", {.retry = {.max_attempts = 0}});
    caller.Put("none", {});
    caller.Put("", {});
    const NewTask bad[] = {{.payload = std::string(11, 'x')},
                           {.content_type = std::string(256, 'x')},
                           {.priority = 32768},
                           {.delay = absl::Seconds(-1)},
                           {.max_attempts = 0},
                           {.key_policy = KeyPolicy::kReject},
                           {.key = "k", .key_policy = KeyPolicy::kRerunIfNewer},
                           {.version = 1},
                           {.key = "k", .version = 0},
                           {.key = "k", .key_policy = KeyPolicy::kSchedule},
                           {.period = absl::Milliseconds(1)},
                           {.time_zone = "UTC"},
                           {.stage = "none"}};
    for (const NewTask& task : bad) caller.Put("q", task);
    caller.Settle(AckItem{.lease_token = "made up"});
  });
}

// Too long by a byte, with a NUL, no UTF-8; and at its limit.
std::vector<std::string> Texts(size_t bytes_max) {
  return {std::string(bytes_max + 1, 'x'), std::string("a\0b", 3), "\xff", "a\xc3", "\xed\xa0\x80",
          "\xc0\x80", "\xf4\x90\x80\x80", "\xe2\x82\xac", std::string(bytes_max, 'x')};
}

TEST_F(SameAsBroker, TextsOfTasks) {
  Compare([](Caller& caller) {
    caller.MakeQueue("q");
    for (const std::string& text : Texts(255)) {
      caller.Put("q", {.content_type = text});
      caller.Put("q", {.key = text});
    }
    for (const std::string& text : Texts(128)) {
      caller.Put("q", {.headers = {{text, "value"}}});
      caller.PutAll({.queue = "q", .tasks = {{}}, .request_id = text});
    }
    for (const std::string& text : Texts(4096)) caller.Put("q", {.headers = {{"key", text}}});
    caller.Put("q", {.headers = {{"", "value"}}});
    caller.Put("a\xff", {});
    caller.Put("q", {.cron = "\xff"});
    caller.Put("q", {.cron = "@daily", .time_zone = "\xff"});
    for (const std::string& text : {std::string(65, 'x'), std::string(1, '\0'),
                                    std::string("\xff")}) {
      caller.Put("q", {.stage = text});
    }
    caller.Put("q", {.payload = "\xff"});
  });
}

TEST_F(SameAsBroker, TextsOfWorkers) {
  Compare([](Caller& caller) {
    caller.MakeQueue("line", Stages({"a", "b"}));
    for (int i = 0; i < 50; ++i) caller.Put("line", {});
    const std::vector<LeaseQueue> queues = {{.name = "line"}};
    for (const std::string& text : Texts(128)) caller.Take({.queues = queues, .worker_id = text});
    for (const std::string& text : Texts(255)) {
      caller.Take({.queues = queues, .worker_id = "w", .worker_name = text});
    }
    for (const std::string& text : Texts(64)) {
      caller.Take({.queues = queues, .worker_id = "w", .client_version = text});
    }
    for (const std::string& text : Texts(64)) {
      const LeasedTask task = caller.Take("line", "a");
      caller.Ack(task, {.next_stage = text});
      caller.Ack(task, {.next_payload = NextPayload{.content_type = text + std::string(191, 'x')}});
      caller.Ack(caller.Take("line", "a"),
                 {.next_payload = NextPayload{.headers = {{text, text}}}});
    }
    const LeasedTask task = caller.Take("line", "a");
    caller.Ack(task, {.follow_ups = {{.key = "\xff", .queue = "line"}}});
    caller.Ack(task, {.follow_ups = {{.key = std::string(1, '\0'), .queue = "line"}}});
    caller.Settle(NackItem{.lease_token = task.lease_token, .error = {.type = "\xff"}});
    caller.Settle(NackItem{.lease_token = task.lease_token, .error = {.fingerprint = "\xff"}});
    caller.Settle(NackItem{.lease_token = task.lease_token, .error = {.text = "\xff"}});
  });
}

}  // namespace
}  // namespace skiplane
