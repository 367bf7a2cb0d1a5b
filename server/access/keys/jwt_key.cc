#include "server/access/keys/jwt_key.h"

#include <openssl/bn.h>

#include "absl/strings/str_cat.h"

namespace skiplane::access {
namespace {

constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 8192;  // a larger one makes every check of a signature slow

using BigNumber = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

BigNumber BigNumberOf(absl::string_view bytes) {
  return {BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()), nullptr),
          &BN_free};
}

// cjose's structures are for keys that it fills, too.
uint8_t* Bytes(absl::string_view text) {
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

cjose_jwk_ec_curve CurveOf(JwtKeyType type) {
  switch (type) {
    case JwtKeyType::kP256: return CJOSE_JWK_EC_P_256;
    case JwtKeyType::kP384: return CJOSE_JWK_EC_P_384;
    case JwtKeyType::kP521: return CJOSE_JWK_EC_P_521;
    case JwtKeyType::kRsa: break;
  }
  return CJOSE_JWK_EC_INVALID;
}

absl::StatusOr<JwtKey> Take(JwtKeyType type, cjose_jwk_t* made) {
  if (made == nullptr) {
    return absl::FailedPreconditionError(type == JwtKeyType::kRsa ? "no RSA key"
                                                                  : "no point of its curve");
  }
  return JwtKey{.id = "", .algorithm = "", .type = type, .key = {made, {}}};
}

}  // namespace

absl::StatusOr<JwtKey> MakeRsaKey(absl::string_view modulus, absl::string_view exponent) {
  const BigNumber n = BigNumberOf(modulus);
  const BigNumber e = BigNumberOf(exponent);
  if (BN_num_bits(n.get()) < kRsaBitsMin || BN_num_bits(n.get()) > kRsaBitsMax) {
    return absl::FailedPreconditionError(
        absl::StrCat("an RSA key of ", BN_num_bits(n.get()), " bits; there must be ", kRsaBitsMin,
                     " to ", kRsaBitsMax));
  }
  // With 1 every text is its own signature; even ones are no key at all.
  if (BN_is_odd(e.get()) == 0 || BN_is_one(e.get()) != 0 || BN_num_bits(e.get()) > 64) {
    return absl::FailedPreconditionError("an RSA key whose exponent protects nothing");
  }
  cjose_jwk_rsa_keyspec spec{};
  spec.n = Bytes(modulus);
  spec.nlen = modulus.size();
  spec.e = Bytes(exponent);
  spec.elen = exponent.size();
  return Take(JwtKeyType::kRsa, cjose_jwk_create_RSA_spec(&spec, nullptr));
}

absl::StatusOr<JwtKey> MakeEcKey(JwtKeyType curve, absl::string_view x, absl::string_view y) {
  cjose_jwk_ec_keyspec spec{};
  spec.crv = CurveOf(curve);
  spec.x = Bytes(x);
  spec.xlen = x.size();
  spec.y = Bytes(y);
  spec.ylen = y.size();
  return Take(curve, cjose_jwk_create_EC_spec(&spec, nullptr));
}

}  // namespace skiplane::access
