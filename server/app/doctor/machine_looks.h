// What of this machine a broker needs. Stateless.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "server/app/doctor/finding.h"
#include "server/config/config.h"

namespace skiplane::app {

// Descriptors for as many connections as it takes.
Finding LookAtDescriptors(const config::Config& config);

// Room on the disk of a folder: of an embedded database.
Finding LookAtDisk(const std::string& folder);

// `database`: what its clock said when `before` and `after` were told by ours. Deadlines are the
// database's, and a certificate's ours.
Finding LookAtClocks(absl::Time before, absl::Time database, absl::Time after);

}  // namespace skiplane::app
