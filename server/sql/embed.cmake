# cmake -DOUT=queries.h "-DFILES=a.sql;b.sql" -P embed.cmake
# Writes every file as a constant: task_lease.sql becomes sql::kTaskLease, a member of sql::kAll.
foreach(file IN LISTS FILES)
  get_filename_component(stem "${file}" NAME_WE)
  string(REPLACE "_" ";" words "${stem}")
  set(name "k")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 head)
    string(SUBSTRING "${word}" 1 -1 tail)
    string(TOUPPER "${head}" head)
    string(APPEND name "${head}${tail}")
  endforeach()
  file(READ "${file}" text)
  string(APPEND body "inline constexpr Query ${name}{\"${stem}\", R\"sql(${text})sql\"};\n")
  string(APPEND all "    &${name},\n")
endforeach()
file(WRITE "${OUT}" "// Made from the .sql files by embed.cmake.
#pragma once

#include \"server/sql/query.h\"

namespace skiplane::sql {

${body}
inline constexpr const Query* kAll[] = {
${all}};

}  // namespace skiplane::sql
")
