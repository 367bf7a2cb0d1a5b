// The settings of the embedded PostgreSQL. Pure, apart from the look at the machine's memory.
#pragma once

#include <cstdint>
#include <string>

namespace skiplane::app {

// What this process may use: the machine's memory, or less where a control group says so.
int64_t MemoryBytes();

// A quarter of the memory, between 128 MiB and 1 GiB: a queue's hot part is small, and more would
// only make checkpoints longer.
int64_t SharedBuffersBytes(int64_t memory_bytes);

// The text of skiplane.conf.
std::string EmbeddedSettings(int64_t memory_bytes);

}  // namespace skiplane::app
