# What is released has the same bytes wherever it is built: no path of the folder gets in. It is
# compiled as the tests are, but for what a debugger reads.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  return()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=.)
add_link_options(-s)
