// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, as Debian ships it. It starts its threads when it is loaded, so it is not loaded with the tool but when it
// is first measured.
#include "backend/cpu/device.hpp"
#include "matmul/problem.hpp"
#include "matvec/problem.hpp"
#include "peers/dynamic_library.hpp"
#include "peers/variants.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <cblas.h>

namespace tilewise::peers {

namespace {

/// Before this file sets the variable itself.
std::string limit_of_kernels() {
  static const std::string limit = limited_by({"OPENBLAS_CORETYPE"});
  return limit;
}

/// Loads OpenBLAS as its user would want it.
///
/// By default its threads spin for 20 ms waiting for the next call, on the cores that our variants use when they are
/// measured in turns with it. The shortest wait does not slow OpenBLAS down: its calls are long, or run on one thread.
///
/// On a processor that is newer than itself it takes its kernels of 2004, a fifth as fast. Then it is loaded again with
/// those for the newest instructions that both know.
dynamic_library opened() {
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
  dynamic_library library{"libopenblas.so.0"};
  decltype(&openblas_get_corename) const kernels = library.find("openblas_get_corename");
  const std::string_view level = backend::cpu::name_of(backend::cpu::best_instruction_set());
  const bool is_old = kernels != nullptr && std::string_view(kernels()) == "Prescott" && level != "v2";
  if (!is_old || !limit_of_kernels().empty()) return library;
  library.unload();
  setenv("OPENBLAS_CORETYPE", level == "v4" ? "SKYLAKEX" : "HASWELL", 0);
  return dynamic_library{"libopenblas.so.0"};
}

struct openblas {
  dynamic_library library = opened();
  decltype(&cblas_sgemm) sgemm = library.find("cblas_sgemm");
  decltype(&cblas_dgemm) dgemm = library.find("cblas_dgemm");
  decltype(&cblas_sgemv) sgemv = library.find("cblas_sgemv");
  decltype(&cblas_dgemv) dgemv = library.find("cblas_dgemv");
  decltype(&openblas_set_num_threads) set_num_threads = library.find("openblas_set_num_threads");
};

const openblas& with_threads_of(backend::queue& queue) {
  static const openblas loaded;
  if (!loaded.library.is_complete())
    throw error(errc::unsupported, "libopenblas.so.0 could not be loaded; install Debian's libopenblas0-pthread");
  loaded.set_num_threads(static_cast<int>(static_cast<backend::cpu::queue&>(queue).threads()));
  return loaded;
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  for (unsigned i = 0; i < p.shape.rank; ++i)
    if (p.shape[i] > std::numeric_limits<blasint>::max()) return "OpenBLAS counts in 32 bits";
  return limit_of_kernels();
}

/// BLAS requires strides of at least one.
blasint stride(std::uint64_t of) { return static_cast<blasint>(std::max<std::uint64_t>(1, of)); }

void run_matmul(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& queue) {
  const openblas& blas = with_threads_of(queue);
  const impl::matmul::sizes s(p);
  const auto multiply = [&]<class T>(T one, auto gemm) {
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(s.m), static_cast<blasint>(s.n),
         static_cast<blasint>(s.k), one, where.in[0].as<const T>(), stride(s.lda), where.in[1].as<const T>(),
         stride(s.ldb), T(0), where.out[0].as<T>(), stride(s.ldc));
  };
  if (p.type == dtype::f32)
    multiply(1.0f, blas.sgemm);
  else
    multiply(1.0, blas.dgemm);
}

void run_matvec(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& queue) {
  const openblas& blas = with_threads_of(queue);
  const impl::matvec::sizes s(p);
  const auto multiply = [&]<class T>(T one, auto gemv) {
    T* const y = where.out[0].as<T>();
    if (s.n == 0) return std::fill_n(y, s.m, T(0)), void();  // BLAS would leave y as it is
    gemv(CblasRowMajor, CblasNoTrans, static_cast<blasint>(s.m), static_cast<blasint>(s.n), one,
         where.in[0].as<const T>(), stride(s.lda), where.in[1].as<const T>(), 1, T(0), y, 1);
  };
  if (p.type == dtype::f32)
    multiply(1.0f, blas.sgemv);
  else
    multiply(1.0, blas.dgemv);
}

registry::variant blas_peer(std::string_view algorithm, std::string_view source, decltype(registry::variant::run) run,
                            double bound) {
  registry::variant v = cpu_peer(algorithm, "openblas", source, unsupported, run);
  v.types = float_types;
  v.bound = bound;
  return v;
}

}  // namespace

std::vector<registry::variant> openblas_variants() {
  return {blas_peer("matmul", "OpenBLAS's cblas_sgemm and cblas_dgemm", run_matmul, product_bound),
          blas_peer("matvec", "OpenBLAS's cblas_sgemv and cblas_dgemv", run_matvec, other_order_bound)};
}

}  // namespace tilewise::peers
