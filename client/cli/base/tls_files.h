// The PEM files of the command line, looked at before gRPC gets them: it says nothing of what it
// cannot use, and of a key that is another certificate's.
#pragma once

#include "absl/status/status.h"
#include "client/cli/base/global_options.h"

namespace skiplane::cli {

// LocalError, which names the file. Files that cannot be read are left to Client::Connect.
absl::Status CheckTlsFiles(const GlobalOptions& options);

}  // namespace skiplane::cli
