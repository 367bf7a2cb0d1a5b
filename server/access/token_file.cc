#include "server/access/token_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/access/limits.h"
#include "server/access/text_file.h"
#include "server/base/bearer_token.h"
#include "server/base/status_macros.h"

namespace skiplane::access {
namespace {

constexpr char kForm[] = "must be `NAME sha256:HEX [group,group...]`";

absl::StatusOr<Digest> ReadDigest(absl::string_view word) {
  Digest digest;
  const bool is_hash = absl::ConsumePrefix(&word, "sha256:") && word.size() == 2 * digest.size() &&
                       std::all_of(word.begin(), word.end(), [](char c) {
                         return absl::ascii_isxdigit(static_cast<unsigned char>(c));
                       });
  if (!is_hash) {
    return absl::FailedPreconditionError(
        "the second word must be sha256: and 64 hexadecimal digits, by `skiplaned make-token`");
  }
  const std::string bytes = absl::HexStringToBytes(word);
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

absl::StatusOr<std::vector<std::string>> ReadGroups(absl::string_view word) {
  std::vector<std::string> groups = absl::StrSplit(word, ',');
  if (groups.size() > kGroupsPerPrincipalMax ||
      !std::all_of(groups.begin(), groups.end(), IsGroupName)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the third word must be up to ", kGroupsPerPrincipalMax,
                     " names of groups with commas between, of A-Z a-z 0-9 . _ - / @ :"));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace

// The lines of a file, as they become a table.
class TokenFile {
 public:
  absl::Status Add(absl::string_view line) {
    const std::vector<absl::string_view> words = Words(line);
    if (words.size() < 2 || words.size() > 3) return absl::FailedPreconditionError(kForm);
    Principal principal{.name = absl::StrCat(kTokenPrefix, words[0]), .groups = {}};
    if (absl::StartsWith(words[0], base::kBearerTokenStart)) {
      return absl::FailedPreconditionError(
          "the first word is a token: it must be the name of whose token it is");
    }
    if (!IsPrincipalName(principal.name) || absl::StrContains(words[0], ',')) {
      return absl::FailedPreconditionError(
          "the first word must be a name of 1 to 249 bytes of visible ASCII without commas");
    }
    ASSIGN_OR_RETURN(const Digest digest, ReadDigest(words[1]));
    if (words.size() == 3) {
      ASSIGN_OR_RETURN(principal.groups, ReadGroups(words[2]));
    }
    return Add(digest, std::move(principal));
  }

  TokenTable Take() { return std::move(table_); }

 private:
  absl::Status Add(const Digest& digest, Principal principal) {
    std::shared_ptr<const Principal>& known = by_name_[principal.name];
    if (known == nullptr) {
      known = std::make_shared<const Principal>(std::move(principal));
    } else if (known->groups != principal.groups) {
      return absl::FailedPreconditionError("another line of this name has other groups");
    }
    if (!table_.principals_.emplace(digest, known).second) {
      return absl::FailedPreconditionError("this hash stands in an earlier line already");
    }
    if (table_.size() > kTokensMax) {
      return absl::FailedPreconditionError(absl::StrCat("more than ", kTokensMax, " tokens"));
    }
    return absl::OkStatus();
  }

  TokenTable table_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Principal>> by_name_;
};

absl::StatusOr<TokenTable> TokenTable::Parse(absl::string_view text, absl::string_view file) {
  TokenFile lines;
  RETURN_IF_ERROR(ForEachLine(text, file, kTokenFileBytesMax,
                              [&lines](absl::string_view line) { return lines.Add(line); }));
  TokenTable table = lines.Take();
  // An emptied file would lock everybody out.
  if (table.size() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": no token; leave the file out if there is none"));
  }
  return table;
}

std::map<std::string, std::shared_ptr<const Principal>> TokenTable::Principals() const {
  std::map<std::string, std::shared_ptr<const Principal>> principals;
  for (const auto& [digest, principal] : principals_) principals[principal->name] = principal;
  return principals;
}

std::shared_ptr<const Principal> TokenTable::Find(absl::string_view token) const {
  const auto found = principals_.find(Sha256(token));
  return found == principals_.end() ? nullptr : found->second;
}

}  // namespace skiplane::access
