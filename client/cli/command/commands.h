// Every command of skiplane, each group in a file of its own.
#pragma once

#include "client/cli/input/plan.h"

namespace skiplane::cli {

void DeclareQueues(CLI::App* app, Plan* plan);
void DeclareQueueDeletion(CLI::App* queues, Plan* plan);
void DeclareQueueFiles(CLI::App* queues, Plan* plan);
void DeclareTasks(CLI::App* app, Plan* plan);
void DeclareTaskChanges(CLI::App* tasks, Plan* plan);
void DeclareTaskCopies(CLI::App* tasks, Plan* plan);
void DeclareOperations(CLI::App* app, Plan* plan);
void DeclareErrors(CLI::App* app, Plan* plan);
void DeclareReports(CLI::App* app, Plan* plan);
void DeclareWorkers(CLI::App* app, Plan* plan);
void DeclareServer(CLI::App* app, Plan* plan);
void DeclareSchedules(CLI::App* app, Plan* plan);
void DeclareEnqueue(CLI::App* app, Plan* plan);
void DeclareWork(CLI::App* app, Plan* plan);
void DeclareTail(CLI::App* app, Plan* plan);
void DeclareTop(CLI::App* app, Plan* plan);
void DeclareCompletion(CLI::App* app, Plan* plan);

inline void DeclareCommands(CLI::App* app, Plan* plan) {
  DeclareQueues(app, plan);
  DeclareTasks(app, plan);
  DeclareOperations(app, plan);
  DeclareErrors(app, plan);
  DeclareSchedules(app, plan);
  DeclareReports(app, plan);
  DeclareWorkers(app, plan);
  DeclareServer(app, plan);
  DeclareTail(app, plan);
  DeclareTop(app, plan);
  DeclareEnqueue(app, plan);
  DeclareWork(app, plan);
  DeclareCompletion(app, plan);
}

}  // namespace skiplane::cli
