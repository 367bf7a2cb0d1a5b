#include "server/access/keys/jwt_algorithm.h"

namespace skiplane::access {
namespace {

// One curve for each: RFC 7518 section 3.4.
constexpr JwtAlgorithm kAlgorithms[] = {
    {"RS256", JwtKeyType::kRsa, 0},    {"RS384", JwtKeyType::kRsa, 0},
    {"RS512", JwtKeyType::kRsa, 0},    {"PS256", JwtKeyType::kRsa, 0},
    {"PS384", JwtKeyType::kRsa, 0},    {"PS512", JwtKeyType::kRsa, 0},
    {"ES256", JwtKeyType::kP256, 64},  {"ES384", JwtKeyType::kP384, 96},
    {"ES512", JwtKeyType::kP521, 132},
};

}  // namespace

const JwtAlgorithm* FindJwtAlgorithm(absl::string_view name) {
  for (const JwtAlgorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

absl::string_view JwtAlgorithmNames() {
  return "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512";
}

}  // namespace skiplane::access
