# Run by ctest when it starts: makes a test of each suite of the GoogleTest program `program`.
if(NOT EXISTS ${program})
  add_test(${name} ${program})
  return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests
  OUTPUT_VARIABLE list RESULT_VARIABLE result TIMEOUT 60)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} cannot list its tests: ${result}")
endif()
# A line that ends with a point, or goes on with a comment, is a suite; its cases are indented.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${list}")
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  string(REPLACE / . test "${name}.${suite}")
  add_test(${test} ${program} "--gtest_filter=${suite}.*" "--gtest_output=xml:${cases}/${test}.xml")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout} LABELS "${labels}")
endforeach()
