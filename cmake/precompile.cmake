# skiplane_precompile(): headers that are compiled once for all rooms below the API and their tests,
# which nearly halves the time that these take without optimization. Not for what is shipped: that
# build shows that each file includes what it needs.
set(core_rooms base model metrics pg sql store broker upkeep)
set(common_headers
  <algorithm> <atomic> <chrono> <functional> <map> <memory> <optional> <string> <thread> <utility>
  <vector> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/functional/any_invocable.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_join.h> <absl/time/clock.h> <absl/time/time.h>)
set(test_headers ${common_headers} <future> <gmock/gmock.h> <gtest/gtest.h>)

if(CCACHE)
  # Else it does not cache what uses such a header.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
# What GoogleTest defines for its users only; a header is shared by those who define the same.
add_compile_definitions(GTEST_HAS_PTHREAD=1)

# The targets of these folders begin with the headers that are compiled as target `name`.
function(skiplane_share_headers name headers)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.cc "")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cc)
  target_precompile_headers(${name} PRIVATE ${headers})
  target_link_libraries(${name} PRIVATE skiplane_warnings)
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type MATCHES "EXECUTABLE|STATIC_LIBRARY")
        target_precompile_headers(${target} REUSE_FROM ${name})
      endif()
    endforeach()
  endforeach()
endfunction()

function(skiplane_precompile)
  list(TRANSFORM core_rooms PREPEND server/ OUTPUT_VARIABLE folders)
  skiplane_share_headers(skiplane_common_headers "${common_headers}" ${folders})
  list(TRANSFORM core_rooms PREPEND tests/ OUTPUT_VARIABLE folders)
  skiplane_share_headers(skiplane_test_headers "${test_headers}" tests/support ${folders})
endfunction()
