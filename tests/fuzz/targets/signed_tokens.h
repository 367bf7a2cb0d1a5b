// Keys and the only two tokens that were ever signed by them: the private halves are gone. So a
// token that is taken and is another one was forged.
#pragma once

#include "absl/strings/string_view.h"

namespace skiplane::fuzz {

// A JWKS document.
inline constexpr absl::string_view kKeys =
    "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"rsa\",\"n\":\"qZdyqgxDTiiLs5wxZtxNKWTgtuMMuAH04CRZbizb"
    "Nq66rfFw5CYJwxA-gMeRb9zqpx2LHA0lwl13GLUpck3b1mt_DyO-m2sahAyR67kvssirRv0RKnekNg1D2UbyuCkAXdIw"
    "2manlmr6kVr2SGPhM2AaNQil8f-4jGtA7vqXl6nDFCL8uGoeluUzEELLt0Sp70F-XXbkyd9U8givh2t8Aqo9PYCaPzbx"
    "ukc47gmS8K9bqPuQn6E1i-rwV0cUR4TjMw1y_uxFT7aVpUSWYAZajzJ94q8b_vVJaGBESZ2in9c98HyOROGdd_Sjwrad"
    "C0QYCuUIgY8Bvh6KpmpdHdeVRQ\",\"e\":\"AQAB\"},{\"kty\":\"EC\",\"kid\":\"ec\",\"crv\":\"P-256"
    "\",\"x\":\"3QmhMtXyI_a1SmjRwwaKSvuPPYfQAHOHQk_rKfvIcjg\",\"y\":\"dRzvhMkpQj6NyyMmqZin664gnFT"
    "7u7n3i-YZY-QGUFg\"}]}";

// Of "rsa", RS256, and of "ec", ES256; they expire at 1800000300.
inline constexpr absl::string_view kRsaToken =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUub3JnIiwiYXVkIjoic2t"
    "pcGxhbmUiLCJzdWIiOiJhbm5AZXhhbXBsZS5vcmciLCJleHAiOjE4MDAwMDAzMDAsImdyb3VwcyI6WyJvcHMiLCJiaWx"
    "saW5nIl19.fI_mr0YyoTvsiQCYOFgSKi3HOr-doy-Jo3JBDhWTqWECDvBis4xGLT6l5K-MwCbF_pREAdJhyN7ONXfEIQ"
    "A5q_kN5mEFYvx8TD4Udjduou_PDlr9p0chiYSjMatOBt01Rex9C9hGeKoMzdaHm7YAeLVZlpIg5g_fGR3OdxMxl_g1Cf"
    "xYfjZNPgdJ-H98Ip5GylwP43Buoq5fmr-IbhtySxcTjws36aU6R0--ItXIxjJDqbrxTLUsb5WS8OGdFT95v2MjeQvDuM"
    "lQcQrzggqUSSHPgdeW3oPxdU8xLvVrHKnbzC4k9ECNA6oyzHzMjiRnK2cFSkULXSGcFZUPqgXfvw";

inline constexpr absl::string_view kEcToken =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImVjIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUub3JnIiwiYXVkIjoic2tp"
    "cGxhbmUiLCJzdWIiOiJhbm5AZXhhbXBsZS5vcmciLCJleHAiOjE4MDAwMDAzMDAsImdyb3VwcyI6WyJvcHMiLCJiaWxs"
    "aW5nIl19.sF4AW3DYRf8wVTPB1HvWA0cFSwYf4d8jcBMgwAwltlwehikg78e65TOsH6k711OJWe-DAAGytxng3ImQ7SW"
    "boQ";

}  // namespace skiplane::fuzz
