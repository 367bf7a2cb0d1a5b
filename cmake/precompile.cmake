# What makes a build with tests short: headers are compiled once for many files, and a few files at
# once; those of tests always, those of what is shipped if SKIPLANE_PRECOMPILE says so. A release is
# built without, which takes much longer: whether each file includes what it names is looked at by
# tests/tidy, without a compiler. To be included before the targets are made.
set(common_headers
  <algorithm> <atomic> <chrono> <functional> <map> <memory> <optional> <string> <thread> <utility>
  <vector> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/functional/any_invocable.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_join.h> <absl/time/clock.h> <absl/time/time.h>)
set(test_headers ${common_headers} <future> <gmock/gmock.h> <gtest/gtest.h>)
set(api_headers <grpcpp/grpcpp.h> <skiplane/v1/admin.grpc.pb.h> <skiplane/v1/broker.grpc.pb.h>)
# The folders of tests that know gRPC.
set(grpc_tests bench cli client http rpc)

if(CCACHE)
  # Else it does not cache what uses such a header.
  list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # In KiB: compilers of one file each need not collect garbage before.
  add_compile_options(--param=ggc-min-heapsize=1048576)
endif()
# What GoogleTest defines for its users only; a header is shared by those who define the same.
add_compile_definitions(GTEST_HAS_PTHREAD=1)

# skiplane_compile_together(target): a few files at once, since headers cost more than what most
# files say themselves. Such files share their unnamed namespace: what has a name in it that another
# file of its target uses, too, is listed in `alone`; and so is the scheduler, since the planted
# faults of tests/simulation/mutants replace one of its files when they are linked.
set(alone
  "cli/command/(queues|reports|schedules|tasks)|cli/input/plan|pg/(watchdog|connections/listener)"
  "server/broker/schedule/|broker/settle/settle_log|server/upkeep/|rpc/call/page_token"
  "rpc/broker/convert_(lease|stream)|serve/reflection_service|config/options"
  "server/broker/(operate/task_operator|sessions/session_renewer)"
  "client/src/(worker/(link|nack_item|settler)|testing/store_enqueue)[.]"
  "server/http/(boost|gzip|metrics_page|pages|request_parser)|server/net/connection[.]"
  "tests/bench/load/(apart|classic|hand_made|steady_work)[.]"
  "tests/bench/scenario/(admin|admin_rows|apart|heartbeats|keyed|pickup|raw_sql)[.]"
  "broker/lease/repeat_pgtest|sql/statements_pgtest"
  "broker/schedule/(alarms|belief|belief_transitions|lane_stage_state|probe_budget)_test"
  "rpc/[a-z]+/(bad|convert|setting)_[a-z_]+_test")
function(skiplane_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(files ${target} SOURCES)
  foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder})
    foreach(pattern IN LISTS alone)
      if(file MATCHES "${pattern}")
        set_source_files_properties(${file} TARGET_DIRECTORY ${target}
          PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# skiplane_share_headers(name headers libraries folders…): the targets of these folders begin with
# the headers, which are compiled as the target `name`. `libraries` say where the headers are.
function(skiplane_share_headers name headers libraries)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.cc "")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${name}.cc)
  target_precompile_headers(${name} PRIVATE ${headers})
  target_link_libraries(${name} PRIVATE ${libraries} skiplane_warnings)
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type MATCHES "EXECUTABLE|STATIC_LIBRARY")
        target_precompile_headers(${target} REUSE_FROM ${name})
        skiplane_compile_together(${target})
      endif()
    endforeach()
  endforeach()
endfunction()

# To be called in tests/, whose flags the headers are compiled with, when all of its targets exist.
function(skiplane_precompile_tests)
  get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
  list(TRANSFORM grpc_tests PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE with_grpc)
  set(without_grpc ${folders})
  list(REMOVE_ITEM without_grpc ${with_grpc})
  skiplane_share_headers(skiplane_test_headers "${test_headers}" "" ${without_grpc})
  if(NOT SKIPLANE_CORE_ONLY)
    list(REMOVE_ITEM folders ${without_grpc})
    skiplane_share_headers(skiplane_grpc_headers "${test_headers};${api_headers}" skiplane_proto
      ${folders})
  endif()
endfunction()

# The same for what is shipped, when all of its targets exist.
function(skiplane_precompile_product)
  set(folders base model access/keys access metrics net http pg pg/connections pg/migrate sql store
    broker upkeep)
  get_property(broker_folders DIRECTORY ${PROJECT_SOURCE_DIR}/server/broker
    PROPERTY SUBDIRECTORIES)
  if(NOT SKIPLANE_CORE_ONLY)
    list(APPEND folders config)
  endif()
  list(TRANSFORM folders PREPEND ${PROJECT_SOURCE_DIR}/server/)
  skiplane_share_headers(skiplane_common_headers "${common_headers}" "" ${folders}
    ${broker_folders})
  if(SKIPLANE_CORE_ONLY)
    return()
  endif()
  set(rpc_folders call stream broker settings admin serve)
  list(TRANSFORM rpc_folders PREPEND ${PROJECT_SOURCE_DIR}/server/rpc/)
  list(APPEND rpc_folders ${PROJECT_SOURCE_DIR}/server/http/connect
    ${PROJECT_SOURCE_DIR}/server/http/dashboard)
  skiplane_share_headers(skiplane_rpc_headers "${common_headers};${api_headers}" skiplane_proto
    ${rpc_folders})
  foreach(target IN ITEMS skiplane_app skiplane_app_cluster skiplane_client skiplane_testing
          skiplane_cli skiplane_demo)
    if(TARGET ${target})
      skiplane_compile_together(${target})
    endif()
  endforeach()
  # Independent of where they are loaded, unlike all others, and so are their headers.
  target_precompile_headers(skiplane_client PRIVATE ${common_headers} ${api_headers})
  target_precompile_headers(skiplane_testing REUSE_FROM skiplane_client)
  if(TARGET skiplane_cli)
    target_precompile_headers(skiplane_cli REUSE_FROM skiplane_rpc_headers)
  endif()
endfunction()
