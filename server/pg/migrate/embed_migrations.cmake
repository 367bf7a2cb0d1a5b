# cmake -DOUT=migrations.h "-DFILES=0001_a.sql;0002_b.sql" -P embed_migrations.cmake
# Writes every file as a member of pg::kMigrations: 0001_core.sql is version 1 and named core.
set(previous 0)
foreach(file IN LISTS FILES)
  get_filename_component(stem "${file}" NAME_WE)
  if(NOT stem MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)$")
    message(FATAL_ERROR "${file}: not named NNNN_name.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  math(EXPR expected "${previous} + 1")
  if(NOT version EQUAL expected)
    message(FATAL_ERROR "${file}: version ${expected} was to come next")
  endif()
  set(previous ${version})
  file(READ "${file}" text)
  string(APPEND body "    Migration{${version}, \"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE "${OUT}" "// Made from migrations/ by embed_migrations.cmake.
#pragma once

#include <array>

#include \"server/pg/migrate/migration.h\"

namespace skiplane::pg {

inline constexpr std::array kMigrations{
${body}};

}  // namespace skiplane::pg
")
