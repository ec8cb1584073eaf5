# The one place for floating-point flags. Compilers contract a*b+c into one rounding by default; the order needs each
# operation rounded as written, and a fused operation written as fma. OpenCL programs say so in operators.cl.
add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)

foreach(flags IN ITEMS "${CMAKE_CXX_FLAGS}" "${CMAKE_CUDA_FLAGS}" "$ENV{CXXFLAGS}")
  if(flags MATCHES "fast-math|Ofast|associative-math|unsafe-math|use_fast_math|fp-contract=(fast|on)|fmad=true|ftz=true")
    message(FATAL_ERROR "'${flags}' changes the bits of floating-point results; remove the fast-math options")
  endif()
endforeach()

# The x86-64 levels that CPU kernels are built for, one object library each; all return the same bits.
set(TILEWISE_CPU_LEVELS v2 v3 v4)
