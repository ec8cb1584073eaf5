// SPDX-License-Identifier: Apache-2.0
// cuBLAS. It is loaded when it is first measured, so that the tool starts on a machine without it.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "matmul/problem.hpp"
#include "matvec/problem.hpp"
#include "peers/dynamic_library.hpp"
#include "peers/variants.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <cublas_v2.h>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;

constexpr std::array tf32_types{dtype::f32};

struct cublas {
  dynamic_library library{"libcublas.so.13", "libcublas.so.12"};
  decltype(&cublasCreate_v2) create = library.find("cublasCreate_v2");
  decltype(&cublasSetStream_v2) set_stream = library.find("cublasSetStream_v2");
  decltype(&cublasSetMathMode) set_math_mode = library.find("cublasSetMathMode");
  decltype(&cublasSgemm_v2) sgemm = library.find("cublasSgemm_v2");
  decltype(&cublasDgemm_v2) dgemm = library.find("cublasDgemm_v2");
  decltype(&cublasSgemv_v2) sgemv = library.find("cublasSgemv_v2");
  decltype(&cublasDgemv_v2) dgemv = library.find("cublasDgemv_v2");
};

const cublas& blas() {
  static const cublas loaded;
  return loaded;
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw error(errc::unsupported, std::string(call) + " of cuBLAS failed with status " + std::to_string(status));
}

/// One handle for each device, set to the queue's stream. It is kept between calls, as a program would keep it.
cublasHandle_t handle_on(cuda::queue& q, cublasMath_t mode) {
  static std::map<int, cublasHandle_t> handles;
  int ordinal = 0;
  TW_CUDA(cudaGetDevice(&ordinal));
  cublasHandle_t& handle = handles[ordinal];
  if (handle == nullptr) check(blas().create(&handle), "cublasCreate");
  check(blas().set_stream(handle, q.stream()), "cublasSetStream");
  check(blas().set_math_mode(handle, mode), "cublasSetMathMode");
  return handle;
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (!blas().library.is_complete()) return "neither libcublas.so.13 nor libcublas.so.12 can be loaded";
  for (unsigned i = 0; i < p.shape.rank; ++i)
    if (p.shape[i] > std::numeric_limits<int>::max()) return "cuBLAS counts in 32 bits";
  return limited_by({"NVIDIA_TF32_OVERRIDE"});
}

/// BLAS requires strides of at least one.
int stride(std::uint64_t of) { return static_cast<int>(std::max<std::uint64_t>(1, of)); }

/// A matrix by rows is its transpose by columns: C' = B' A'.
void multiply(const registry::problem& p, const registry::bindings& where, backend::queue& on, cublasMath_t mode) {
  const cublasHandle_t handle = handle_on(cuda::enter(on), mode);
  const impl::matmul::sizes s(p);
  const auto run = [&]<class T>(T one, auto gemm) {
    const T zero = 0;
    check(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(s.n), static_cast<int>(s.m), static_cast<int>(s.k),
               &one, where.in[1].as<const T>(), stride(s.ldb), where.in[0].as<const T>(), stride(s.lda), &zero,
               where.out[0].as<T>(), stride(s.ldc)),
          "gemm");
  };
  if (p.type == dtype::f32)
    run(1.0f, blas().sgemm);
  else
    run(1.0, blas().dgemm);
}

void run_matmul(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& on) {
  // Pedantic math keeps tensor cores away from f32. For f64 it would choose a kernel that takes 1.3 times as long.
  multiply(p, where, on, p.type == dtype::f32 ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH);
}

void run_tf32(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
              backend::queue& on) {
  multiply(p, where, on, CUBLAS_TF32_TENSOR_OP_MATH);
}

void run_matvec(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& on) {
  cuda::queue& q = cuda::enter(on);
  const cublasHandle_t handle = handle_on(q, CUBLAS_DEFAULT_MATH);
  const impl::matvec::sizes s(p);
  const auto run = [&]<class T>(T one, auto gemv) {
    const T zero = 0;
    T* const y = where.out[0].as<T>();
    if (s.n == 0) {  // BLAS would leave y as it is
      TW_CUDA(cudaMemsetAsync(y, 0, s.m * sizeof(T), q.stream()));
      return;
    }
    check(gemv(handle, CUBLAS_OP_T, static_cast<int>(s.n), static_cast<int>(s.m), &one, where.in[0].as<const T>(),
               stride(s.lda), where.in[1].as<const T>(), 1, &zero, y, 1),
          "gemv");
  };
  if (p.type == dtype::f32)
    run(1.0f, blas().sgemv);
  else
    run(1.0, blas().dgemv);
}

registry::variant cublas_peer(std::string_view algorithm, std::string_view name, std::span<const dtype> of_types,
                              std::string_view source, decltype(registry::variant::run) run, double bound) {
  return {.algorithm = algorithm,
          .backend = "cuda",
          .name = name,
          .order = registry::claim::own,
          .types = of_types,
          .source = source,
          .unsupported = unsupported,
          .run = run,
          .bound = bound,
          .peer = true};
}

/// The same as for our variant with TF32.
constexpr double tf32_bound = 2e-2;

}  // namespace

std::vector<registry::variant> cublas_variants() {
  return {
      cublas_peer("matmul", "cublas", float_types, "cuBLAS's gemm without tensor cores for f32", run_matmul,
                  product_bound),
      cublas_peer("matmul", "cublas_tf32", tf32_types, "cuBLAS's gemm on TF32 tensor cores", run_tf32, tf32_bound),
      cublas_peer("matvec", "cublas", float_types, "cuBLAS's gemv of the transpose", run_matvec, other_order_bound)};
}

}  // namespace tilewise::peers
