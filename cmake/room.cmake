# skiplane_room(NAME SOURCES … DEPENDS rooms… LIBRARIES targets…)
# One room of the server: a static library whose headers are included as "server/NAME/…"; the room
# broker_api is the folder server/broker/api.
# DEPENDS are the rooms it may include; tests/tidy holds the includes against the same table.
function(skiplane_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(TRANSFORM ROOM_DEPENDS PREPEND skiplane_)
  if(ROOM_SOURCES)
    add_library(skiplane_${name} STATIC ${ROOM_SOURCES})
    target_include_directories(skiplane_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(skiplane_${name}
      PUBLIC ${ROOM_DEPENDS} ${ROOM_LIBRARIES} PRIVATE skiplane_warnings)
  else()
    add_library(skiplane_${name} INTERFACE)
    target_include_directories(skiplane_${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(skiplane_${name} INTERFACE ${ROOM_DEPENDS} ${ROOM_LIBRARIES})
  endif()
endfunction()
