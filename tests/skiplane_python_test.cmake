# skiplane_python_test(FILE file.py [LABELS labels…] [TIMEOUT s] [ENVIRONMENT NAME=value…])
# One file of Python's unittest. Each of its classes is a test of ctest, FILE.CLASS, and a process
# of its own, run by Debian's Python from the file's folder. The tests find our programs by
# SKIPLANE_BUILD_DIR, the broker by SKIPLANED. The label `once` says that they run none of them:
# builds with sanitizers go without.
#
# A method behind a line `@slow` takes more than ten seconds: it is a test of its own,
# FILE.CLASS.METHOD, with the label `slow`. A class behind that line has the label as a whole: its
# methods together take so long, or `tests/run` would without it. A class of (ByHttp, BASE) has
# the other methods of BASE, which stands before it, once more (tests/system/support/by_http.py):
# `slow`, as all of them together take a minute, and not in builds with sanitizers: those have
# HTTP's own tests. A class of (BASE) alone has them once more, too.
#
# Slow tests mostly wait, and take two to four times as long with sanitizers: those have the ones of
# the modules SKIPLANE_SLOW_WITH_SANITIZERS.
function(skiplane_python_test)
  cmake_parse_arguments(TEST "" "FILE;TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(SKIPLANE_SANITIZE AND "once" IN_LIST TEST_LABELS)
    return()
  endif()
  get_filename_component(path ${TEST_FILE} ABSOLUTE)
  get_filename_component(module ${path} NAME_WE)
  set(has_slow TRUE)
  if(SKIPLANE_SANITIZE AND NOT module IN_LIST SKIPLANE_SLOW_WITH_SANITIZERS)
    set(has_slow FALSE)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})

  set(classes)
  set(slow_classes)
  file(STRINGS ${path} lines REGEX "^ *@slow$|^class [A-Za-z0-9_]+|^    def test_[A-Za-z0-9_]+")
  foreach(line IN LISTS lines)
    if(line MATCHES "^( *)@slow$")
      set(mark "${CMAKE_MATCH_1}slow")
    elseif(line MATCHES "^class ([A-Za-z0-9_]+)(\\((ByHttp, )?([A-Za-z0-9_]+)\\))?")
      set(class ${CMAKE_MATCH_1})
      set(is_by_http ${CMAKE_MATCH_3})
      set(base ${CMAKE_MATCH_4})
      if(mark)
        list(APPEND slow_classes ${class})
      endif()
      set(mark)
      if(is_by_http)
        if(NOT quick_of_${base})
          message(FATAL_ERROR "${path}: ${class} has no tests, for ${base} is not before it")
        endif()
        if(NOT SKIPLANE_SANITIZE)
          list(APPEND classes ${class})
          list(APPEND slow_classes ${class})
        endif()
      elseif(quick_of_${base})
        list(APPEND classes ${class})
      endif()
      if(quick_of_${base})
        string(REPLACE "${module}.${base}." "${module}.${class}." quick_of_${class}
          "${quick_of_${base}}")
      endif()
    elseif(line MATCHES "def (test_[A-Za-z0-9_]+)")
      set(method ${module}.${class}.${CMAKE_MATCH_1})
      if(mark AND has_slow)
        skiplane_python_process(${method} slow ${method})
      elseif(NOT mark)
        list(APPEND classes ${class})
        list(APPEND quick_of_${class} ${method})
      endif()
      set(mark)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES classes)
  foreach(class IN LISTS classes)
    set(class_label)
    if(class IN_LIST slow_classes)
      if(NOT has_slow)
        continue()
      endif()
      set(class_label slow)
    endif()
    skiplane_python_process(${module}.${class} "${class_label}" ${quick_of_${class}})
  endforeach()
endfunction()

# For skiplane_python_test(), whose variables it reads: a test of ctest that runs these methods.
function(skiplane_python_process name label)
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  if(TARGET skiplaned)
    list(APPEND TEST_ENVIRONMENT "SKIPLANED=$<TARGET_FILE:skiplaned>")
  endif()
  get_filename_component(folder ${path} DIRECTORY)
  list(LENGTH ARGN cost)
  set(labels ${TEST_LABELS} ${label})
  add_test(NAME ${name} WORKING_DIRECTORY ${folder}
    COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/support/cases.py
      ${SKIPLANE_TEST_CASES}/${name}.xml ${ARGN})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${TEST_TIMEOUT} LABELS "${labels}" COST ${cost}
    ENVIRONMENT "SKIPLANE_BUILD_DIR=${PROJECT_BINARY_DIR};${TEST_ENVIRONMENT}")
endfunction()
