# What every target of ours is compiled with. Generated code is not held to it.
add_library(skiplane_warnings INTERFACE)
target_compile_options(skiplane_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(skiplane_warnings INTERFACE -Wthread-safety)
endif()
if(SKIPLANE_SANITIZE)
  add_compile_options(-fsanitize=${SKIPLANE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SKIPLANE_SANITIZE})
endif()
