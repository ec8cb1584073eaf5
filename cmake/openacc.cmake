# OpenACC is GCC's. Its device code goes through GCC's own compiler for NVIDIA GPUs where that is installed (Debian: gcc-12-offload-nvptx);
# otherwise, and on a machine without a GPU, the host runs it. Files are compiled with TILEWISE_OPENACC_OPTIONS, programs
# linked with TILEWISE_OPENACC_LINK_OPTIONS.
set(TILEWISE_OPENACC_OPTIONS -fopenacc)
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
  list(APPEND TILEWISE_OPENACC_OPTIONS -foffload=nvptx-none -foffload-options=nvptx-none=-misa=sm_80)
else()
  list(APPEND TILEWISE_OPENACC_OPTIONS -foffload=disable)
  message(STATUS "OpenACC runs on the host: GCC has no compiler for accelerators here")
endif()
set(TILEWISE_OPENACC_LINK_OPTIONS ${TILEWISE_OPENACC_OPTIONS})
if(TILEWISE_OPENACC_OFFLOAD)
  list(APPEND TILEWISE_OPENACC_LINK_OPTIONS -Wl,-z,notext)  # GCC adds a table that is not position independent
endif()

# tilewise_openacc_sources(FILE...): of the library's sources, those that hold OpenACC; the others are compiled without it.
# GCC translates a file for accelerators as OpenACC or as OpenMP, not as both.
function(tilewise_openacc_sources)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY tilewise PROPERTIES
                              COMPILE_OPTIONS "-fno-openmp;${TILEWISE_OPENACC_OPTIONS}")
endfunction()
