# SPDX-License-Identifier: Apache-2.0
# OpenACC is GCC's. Its device code goes through GCC's own compiler for NVIDIA GPUs where that is installed (Debian:
# gcc-12-offload-nvptx); otherwise, and on a machine without a GPU, the host runs it.
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
# GCC translates device code when a program is linked, with flags that only GCC knows. Here all of it is translated at once
# into one object, so that whatever links the library needs no such flags. GCC's marks of where its tables begin and end
# become this object's own, since a program may have others.
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
    # GCC's own table holds addresses in memory that is never written, which position-independent code may not.
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
