# cmake -DOUT=files.cc "-DFILES=index.html;dashboard.js" -P embed.cmake
# Writes every file as a constant, with what tells one version of it from another.
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  if(text MATCHES "\\)dashboard\"")
    message(FATAL_ERROR "${file} holds what ends a constant here: take another word in embed.cmake")
  endif()
  file(SHA256 "${file}" hash)
  string(SUBSTRING "${hash}" 0 32 version)
  string(APPEND all "    {\"${name}\", \"${version}\", R\"dashboard(${text})dashboard\"},\n")
endforeach()
file(WRITE "${OUT}" "// Made from client/dashboard/dist by embed.cmake.
#include \"server/http/dashboard/files.h\"

namespace skiplane::http::dashboard {

const std::vector<File>& Files() {
  static const auto* const files = new std::vector<File>{
${all}  };
  return *files;
}

}  // namespace skiplane::http::dashboard
")
