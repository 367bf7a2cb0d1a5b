# SKIPLANE_HARDENING: what makes a defect in memory harder to use. For all that is built here, since
# precompiled headers ask for the same flags. tests/deploy/hardening_test.py looks for it in the
# programs.
if(NOT SKIPLANE_HARDENING)
  return()
endif()
include(CheckCXXCompilerFlag)

# Programs that are loaded at any address. First among the flags, so that -fPIC wins where CMake
# adds it: in the libraries that may become part of a shared one.
string(PREPEND CMAKE_CXX_FLAGS "-fPIE ")
string(PREPEND CMAKE_EXE_LINKER_FLAGS "-pie ")
# All symbols are bound at the start, and the table of their addresses is read-only from then on.
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)

# The last two guard the targets of jumps, each on its processors, where the C library does so, too;
# that of Debian 12 does not.
set(CMAKE_REQUIRED_FLAGS -Werror)  # clang only warns of a flag that is not for the processor
foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection
        -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "SKIPLANE_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)

# The C library checks the sizes of buffers, in optimized code only: it warns elsewhere. A sanitizer
# checks them better.
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags)
if("${CMAKE_CXX_FLAGS} ${${flags}}" MATCHES ".* -O([^ ]+)" AND NOT CMAKE_MATCH_1 STREQUAL "0"
   AND NOT SKIPLANE_SANITIZE)
  # As one option, of which CMake drops no half where tests/ adds the first one again.
  add_compile_options("SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
endif()
