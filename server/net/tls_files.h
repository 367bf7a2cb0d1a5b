// The PEM files of a listener: read once, checked as a whole, described for the log.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace skiplane::net {

// Paths.
struct TlsFiles {
  std::string certificate;  // with its chain
  std::string key;
  std::string client_ca;  // if not empty, clients are asked for a certificate that it signed
  bool requires_client = true;  // those without one are turned away
};

// What the files held, so that a change of them afterwards changes nothing.
struct TlsIdentity {
  std::string certificate;
  std::string key;  // never logged
  std::string client_ca;
  bool requires_client = true;  // with client_ca
  std::string sha256;  // of the first certificate, in hexadecimal digits
  absl::Time expires;  // likewise
};

// FAILED_PRECONDITION, naming the file, if one cannot be read or is not what it should be, and if
// the key does not belong to the certificate. A certificate that has expired is taken.
absl::StatusOr<TlsIdentity> ReadTlsFiles(const TlsFiles& files);

}  // namespace skiplane::net
