# skiplane_python_test(FILE file.py [LABELS labels…] [TIMEOUT s] [ENVIRONMENT NAME=value…])
# One file of Python's unittest; each of its test methods is a test of ctest, run by Debian's
# Python from the file's folder. The tests find our programs by SKIPLANE_BUILD_DIR, the broker by
# SKIPLANED. The label `once` says that they run none of them: builds with sanitizers go without.
function(skiplane_python_test)
  cmake_parse_arguments(TEST "" "FILE;TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(SKIPLANE_SANITIZE AND "once" IN_LIST TEST_LABELS)
    return()
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  if(TARGET skiplaned)
    list(APPEND TEST_ENVIRONMENT "SKIPLANED=$<TARGET_FILE:skiplaned>")
  endif()
  get_filename_component(path ${TEST_FILE} ABSOLUTE)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(module ${path} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})

  file(STRINGS ${path} lines REGEX "^class [A-Za-z0-9_]+|^    def test_[A-Za-z0-9_]+")
  foreach(line IN LISTS lines)
    if(line MATCHES "^class ([A-Za-z0-9_]+)")
      set(class ${CMAKE_MATCH_1})
    elseif(line MATCHES "def (test_[A-Za-z0-9_]+)")
      set(name ${module}.${class}.${CMAKE_MATCH_1})
      add_test(NAME ${name} WORKING_DIRECTORY ${folder}
        COMMAND /usr/bin/python3 -B -m unittest -v ${name})
      set_tests_properties(${name} PROPERTIES
        TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}"
        SKIP_REGULAR_EXPRESSION "OK \\(skipped="
        ENVIRONMENT "SKIPLANE_BUILD_DIR=${PROJECT_BINARY_DIR};${TEST_ENVIRONMENT}")
    endif()
  endforeach()
endfunction()
