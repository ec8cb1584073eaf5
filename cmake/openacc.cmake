# SPDX-License-Identifier: Apache-2.0
# OpenACC is compiled by GCC. Device code needs GCC's compiler for NVIDIA GPUs (Debian: gcc-12-offload-nvptx). Without
# it, or on a machine without a GPU, the host runs the code.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fopenacc -foffload=nvptx-none -foffload-options=nvptx-none=-misa=sm_80")
check_cxx_source_compiles("
int main(int n, char**) {
#pragma acc parallel loop copy(n)
  for (int i = 0; i < 3; ++i) n = 0;
  return n;
}" TILEWISE_OPENACC_OFFLOAD)
unset(CMAKE_REQUIRED_FLAGS)
if(TILEWISE_OPENACC_OFFLOAD)
  set(TILEWISE_OPENACC_TARGET -foffload=nvptx-none -foffload-options=nvptx-none=-misa=sm_80)
else()
  set(TILEWISE_OPENACC_TARGET -foffload=disable)
  message(STATUS "OpenACC runs on the host: GCC has no compiler for accelerators here")
endif()

# tilewise_openacc_object(TARGET OBJECTS): links TARGET with the OpenACC files that the object library OBJECTS compiles.
# GCC translates device code when a program is linked, with flags that only GCC knows. Here all device code is translated
# into one object, so that programs can link the library without these flags. The symbols that mark the begin and the end
# of GCC's tables become local to this object, since a program may have its own.
function(tilewise_openacc_object target objects)
  if(NOT TILEWISE_OPENACC_OFFLOAD)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    return()
  endif()
  foreach(part IN ITEMS begin end table)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=crtoffload${part}.o
                    OUTPUT_VARIABLE ${part} OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${objects}.o)
  set(parts ${CMAKE_CURRENT_BINARY_DIR}/${objects}.parts)
  file(MAKE_DIRECTORY ${parts})
  add_custom_command(
    OUTPUT ${output}
    # GCC puts its table of addresses into read-only memory, which position-independent code does not allow.
    COMMAND ${CMAKE_OBJCOPY} --rename-section .rodata=.data.rel.ro,alloc,load,data,contents ${table}
            ${parts}/crtoffloadtable.o
    COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -flinker-output=nolto-rel ${TILEWISE_OPENACC_TARGET} -B${parts}
            -o ${parts}/translated.o ${begin} $<TARGET_OBJECTS:${objects}> ${end}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --remove-section .gnu.offload_lto_*
            --localize-symbol __OFFLOAD_TABLE__ --localize-symbol __offload_*
            --rename-section .gnu.offload_funcs=.tilewise.offload_funcs
            --rename-section .gnu.offload_vars=.tilewise.offload_vars ${parts}/translated.o ${output}
    DEPENDS $<TARGET_OBJECTS:${objects}>
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${objects}-object DEPENDS ${output})  # the target may belong to another folder than this rule
  add_dependencies(${target} ${objects}-object)
  target_sources(${target} PRIVATE ${output})
endfunction()
