#include "server/net/certificate_time.h"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <ctime>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"

namespace skiplane::net {
namespace {

// A megabyte or two: with more callers than that each is read again now and then.
constexpr size_t kRememberedMax = 1000;

absl::Time Read(absl::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr), &X509_free);
  return certificate == nullptr ? absl::InfinitePast() : ExpiryOf(*certificate);
}

}  // namespace

absl::Time ExpiryOf(const X509& certificate) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &time) != 1) return absl::InfinitePast();
  return absl::FromTimeT(timegm(&time));
}

absl::Time ExpiryOfPem(absl::string_view pem) {
  static auto* const mutex = new base::Mutex;
  static auto* const known = new absl::flat_hash_map<std::string, absl::Time>;
  {
    base::MutexLock lock(*mutex);
    const auto found = known->find(pem);
    if (found != known->end()) return found->second;
  }
  const absl::Time expiry = Read(pem);
  base::MutexLock lock(*mutex);
  if (known->size() >= kRememberedMax) known->clear();
  known->insert_or_assign(pem, expiry);
  return expiry;
}

}  // namespace skiplane::net
