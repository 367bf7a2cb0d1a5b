# What every target of ours is compiled with. Generated code is not held to it.
add_library(skiplane_warnings INTERFACE)
target_compile_options(skiplane_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(skiplane_warnings INTERFACE -Wthread-safety)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 at -O3 warns of std::string's own code, and not of the same each time: all other builds
  # are held to warnings. https://gcc.gnu.org/PR105651 and PR105329
  target_compile_options(skiplane_warnings INTERFACE
    $<$<CONFIG:Release>:-Wno-error> $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(SKIPLANE_NEWER_GRPC)
  # What newer libraries and compilers warn of, such as functions of theirs that have a successor,
  # which Debian 12's do not have.
  target_compile_options(skiplane_warnings INTERFACE -Wno-error)
endif()
