# What every target of ours is compiled with. Generated code is not held to it.
add_library(skiplane_warnings INTERFACE)
target_compile_options(skiplane_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(skiplane_warnings INTERFACE -Wthread-safety)
endif()
