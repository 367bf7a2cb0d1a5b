// Starts a process with pipes to its standard streams. Between fork and exec it does only what a
// process with threads may do there.
#pragma once

#include <sys/types.h>

#include "client/cli/work/descriptor.h"
#include "client/cli/work/program.h"

namespace skiplane::cli {

struct Spawned {
  // 0 if it could not be started: error_number says why.
  pid_t pid = 0;
  int error_number = 0;
  Descriptor end;  // readable when it has ended
  Descriptor input;
  Descriptor output;  // not open unless the output is kept
  Descriptor error;
};

// The program's keeper is told of its group before the program runs, and of its end if it could not
// be started.
Spawned Spawn(const Program& program);

// Lets this process open as many files as it may at all: each program takes four. Programs start
// with the limit from before the first call. Not thread-safe.
void RaiseFileLimit();

}  // namespace skiplane::cli
