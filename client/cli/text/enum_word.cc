#include "client/cli/text/enum_word.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {

std::string EnumWord(const google::protobuf::EnumValueDescriptor& value) {
  if (value.number() == 0) return "";
  // TASK_STATE_UNSPECIFIED tells the prefix.
  const absl::string_view zero = value.type()->value(0)->name();
  const absl::string_view prefix = absl::StripSuffix(zero, "UNSPECIFIED");
  const std::string word(absl::StripPrefix(value.name(), prefix));
  return absl::StrReplaceAll(absl::AsciiStrToLower(word), {{"_", "-"}});
}

std::vector<std::string> EnumWords(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 1; i < type.value_count(); ++i) words.push_back(EnumWord(*type.value(i)));
  return words;
}

absl::StatusOr<int> ParseEnumWord(const google::protobuf::EnumDescriptor& type,
                                  absl::string_view word) {
  const std::string plain =
      absl::StrReplaceAll(absl::AsciiStrToLower(std::string(word)), {{"_", "-"}});
  for (int i = 1; i < type.value_count(); ++i) {
    if (EnumWord(*type.value(i)) == plain) return type.value(i)->number();
  }
  return UsageError(
      absl::StrCat("'", word, "' is none of ", absl::StrJoin(EnumWords(type), ", ")));
}

}  // namespace skiplane::cli
