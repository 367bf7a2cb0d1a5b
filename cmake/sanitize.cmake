# SKIPLANE_SANITIZE: everything that is built here reports what the sanitizers find, and ends at it.
# Nothing is optimized: the time to compile counts more than the time to run.
#
# ThreadSanitizer knows only the locks of code that it compiled, and Debian's gRPC and Abseil are
# not: what uses them is full of false reports. So it goes with SKIPLANE_CORE_ONLY.
#
# fuzzer-no-link among them (Clang) makes the program of tests/fuzz, and no other tests. It is
# optimized a little: it runs longer than it is compiled.
if(SKIPLANE_SANITIZE)
  if(SKIPLANE_SANITIZE MATCHES thread AND NOT SKIPLANE_CORE_ONLY)
    message(FATAL_ERROR "The thread sanitizer needs -DSKIPLANE_CORE_ONLY=ON")
  endif()
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1 -D_GLIBCXX_ASSERTIONS")
  if(SKIPLANE_SANITIZE MATCHES fuzzer)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
  endif()
  add_compile_options(-fsanitize=${SKIPLANE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SKIPLANE_SANITIZE})
  if(SKIPLANE_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # As a shared library beside that of ASan it ignores where reports belong.
    add_link_options(-static-libubsan)
  endif()
endif()
