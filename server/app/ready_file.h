// Tells scripts that the broker answers: a file that appears at once and whole, with lines
// `listen=HOST:PORT`, `http=HOST:PORT`, `metrics=HOST:PORT`, `database=URI` (with --embedded),
// `pid=N`.
#pragma once

#include "absl/status/status.h"
#include "server/app/app.h"
#include "server/config/config.h"

namespace skiplane::app {

// Before anything is begun: whether the file can be written.
absl::Status CheckReadyFile(const config::Config& config);

// Does nothing if the configuration names no file.
absl::Status WriteReadyFile(const config::Config& config, const App& app);

}  // namespace skiplane::app
