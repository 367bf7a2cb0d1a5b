// A test of a user's program, with the installed broker in memory and no test framework.
#include "skiplane/testing.h"

int main() {
  skiplane::InMemoryBroker broker;
  const auto worker = broker.StartWorker(
      {.queues = {{.name = "mail"}}}, [](const skiplane::LeasedTask& task, skiplane::Attempt&) {
        return skiplane::Result::Done(task.payload + " is sent");
      });
  if (!worker.ok() || !broker.Enqueue("mail", {.payload = "it"}).ok()) return 1;
  if (broker.RunUntilIdle() != 1) return 2;
  return broker.Tasks("mail")[0].task.result == "it is sent" ? 0 : 3;
}
