# SPDX-License-Identifier: Apache-2.0
# tilewise_embed(TARGET NAME FILE...): adds the joined files to TARGET as `extern const std::string_view NAME` in
# namespace tilewise::embedded. They are written as bytes, since a string literal has a length limit and needs escaping.
function(tilewise_embed target name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.embed.cpp)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${joined}" -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  # A custom command is visible only in its folder, and TARGET may belong to another folder. So a separate target runs
  # it.
  add_custom_target(tilewise-embed-${name} DEPENDS ${output})
  add_dependencies(${target} tilewise-embed-${name})
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP embedded)
endfunction()
