# The results of each case of the last run, in GoogleTest's form of JUnit: NAME.xml for the test
# NAME of ctest. tests/support/summary.py counts them.
set(SKIPLANE_TEST_CASES ${PROJECT_BINARY_DIR}/cases)

# skiplane_test(NAME name SOURCES … ROOMS rooms… LIBRARIES targets… [LABELS labels…] [TIMEOUT s])
# One test program. Each of its suites is a test of ctest, NAME.SUITE, and a process of its own. The
# label `pg` says that it needs PostgreSQL and lets it include tests/support/database.h; `slow` says
# that a suite of it takes more than ten seconds.
function(skiplane_test)
  cmake_parse_arguments(TEST "" "NAME;TIMEOUT" "SOURCES;ROOMS;LIBRARIES;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  list(TRANSFORM TEST_ROOMS PREPEND skiplane_)
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  target_include_directories(${TEST_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${TEST_NAME} PRIVATE
    ${TEST_ROOMS} ${TEST_LIBRARIES} skiplane_test_support GTest::gmock GTest::gtest_main
    skiplane_warnings)
  if("pg" IN_LIST TEST_LABELS)
    target_link_libraries(${TEST_NAME} PRIVATE skiplane_test_database)
  endif()
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${TEST_NAME}_suites.cmake)
  file(GENERATE OUTPUT ${suites} CONTENT "
set(name ${TEST_NAME})
set(program [[$<TARGET_FILE:${TEST_NAME}>]])
set(cases [[${SKIPLANE_TEST_CASES}]])
set(timeout ${TEST_TIMEOUT})
set(labels \"${TEST_LABELS}\")
include([[${PROJECT_SOURCE_DIR}/tests/support/suites.cmake]])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
endfunction()
