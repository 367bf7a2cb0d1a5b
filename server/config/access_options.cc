#include "server/config/access_options.h"

#include "server/config/add_option.h"

namespace skiplane::config {

void DeclareAccess(CLI::App* app, Access* access) {
  Add(app, "token-file", &access->token_file,
      "Let callers prove who they are by a bearer token, whose hash stands in this file; "
      "skiplaned make-token makes one.")
      ->check(CheckFile, "FILE");
  CLI::Option* const keys =
      Add(app, "jwt-keys", &access->jwt_keys_file,
          "Or by a JSON Web Token that one of these public keys verifies (PEM or a JWKS document).")
          ->check(CheckFile, "FILE");
  CLI::Option* const issuer =
      Add(app, "jwt-issuer", &access->jwt_issuer, "The issuer that such a token must name.")
          ->check(CheckNotEmpty, "TEXT")
          ->needs(keys);
  CLI::Option* const audience =
      Add(app, "jwt-audience", &access->jwt_audience, "The audience that such a token must name.")
          ->check(CheckNotEmpty, "TEXT")
          ->needs(keys);
  keys->needs(issuer)->needs(audience);
  AddList(app, "jwt-algorithm", &access->jwt_algorithms,
          "An algorithm that may sign it: RS, PS or ES with 256, 384 or 512. May be given again, "
          "or several with commas between. Default: RS256, ES256.")
      ->check(CheckNotEmpty, "NAME")
      ->needs(keys);
  Add(app, "jwt-groups-claim", &access->jwt_groups_claim,
      "The claim of such a token that lists the caller's groups.")
      ->check(CheckNotEmpty, "NAME")
      ->needs(keys)
      ->capture_default_str();
  Add(app, "rules-file", &access->rules_file,
      "What callers may do, a rule a line: allow token:ci to enqueue, lease on builds-*. What none "
      "allows is forbidden. Without the file everything is allowed.")
      ->check(CheckFile, "FILE");
  AddSwitch(app, "open-access", &access->is_open,
            "Take calls from other machines although nobody has to prove who calls.");
}

}  // namespace skiplane::config
