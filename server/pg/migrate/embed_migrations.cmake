# cmake -DOUT=migrations.h "-DFILES=0001_a/10_b.sql;0001_a/20_c.sql;0002_d.sql"
#   -P embed_migrations.cmake
# Writes every version as a member of pg::kMigrations: version 1 is named a, and its text is that of
# its parts, one after the other.
set(version 0)
set(step "")
foreach(file IN LISTS FILES)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(folder "${folder}" NAME)
  get_filename_component(part "${file}" NAME_WE)
  if(NOT folder MATCHES "^[0-9]")
    set(folder "${part}")  # a version of one file
  endif()
  if(NOT folder STREQUAL step)
    if(NOT folder MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)$")
      message(FATAL_ERROR "${file}: neither NNNN_name.sql nor in a folder NNNN_name")
    endif()
    set(name ${CMAKE_MATCH_2})
    math(EXPR version "${version} + 1")
    if(NOT CMAKE_MATCH_1 EQUAL version)
      message(FATAL_ERROR "${file}: version ${version} was to come next")
    endif()
    if(step)
      string(APPEND body "},\n")
    endif()
    string(APPEND body "    Migration{${version}, \"${name}\",\n")
    set(step "${folder}")
  elseif(NOT part STRGREATER last_part)
    message(FATAL_ERROR "${file}: does not come after ${last_part}")
  endif()
  set(last_part "${part}")
  file(READ "${file}" text)
  string(APPEND body "R\"sql(${text})sql\"\n")
endforeach()
file(WRITE "${OUT}" "// Made from migrations/ by embed_migrations.cmake.
#pragma once

#include <array>

#include \"server/pg/migrate/migration.h\"

namespace skiplane::pg {

inline constexpr std::array kMigrations{
${body}},
};

}  // namespace skiplane::pg
")
