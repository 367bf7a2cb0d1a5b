# skiplane_test(NAME name SOURCES … ROOMS rooms… LIBRARIES targets… [LABELS labels…] [TIMEOUT s])
# One test program; each of its cases is a test of ctest. The label `pg` says that it needs
# PostgreSQL and lets it include tests/support/database.h.
function(skiplane_test)
  cmake_parse_arguments(TEST "" "NAME;TIMEOUT" "SOURCES;ROOMS;LIBRARIES;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
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
  gtest_discover_tests(${TEST_NAME}
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}")
endfunction()
