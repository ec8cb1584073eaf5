// SPDX-License-Identifier: Apache-2.0
// CLBlast, as Debian ships it. It is linked with libOpenCL, so it is not loaded with the tool but when it is first
// measured; the tool then starts without either of them.
#include "backend/opencl/queue.hpp"
#include "base/variable.hpp"
#include "matmul/problem.hpp"
#include "peers/dynamic_library.hpp"
#include "peers/variants.hpp"

#include <algorithm>

#include <clblast_c.h>

namespace tilewise::peers {

namespace {

struct clblast {
  dynamic_library library{"libclblast.so.1"};
  decltype(&CLBlastSgemmWithTempBuffer) sgemm = library.find("CLBlastSgemmWithTempBuffer");
  decltype(&CLBlastDgemmWithTempBuffer) dgemm = library.find("CLBlastDgemmWithTempBuffer");
  decltype(&CLBlastSGemmTempBufferSize) sgemm_workspace = library.find("CLBlastSGemmTempBufferSize");
  decltype(&CLBlastDGemmTempBufferSize) dgemm_workspace = library.find("CLBlastDGemmTempBufferSize");
};

const clblast& loaded() {
  static const clblast found;
  return found;
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const impl::matmul::sizes s(p);
  if (std::min({s.m, s.n, s.k}) == 0) return "CLBlast takes no empty matrices";
  if (!base::variable("TILEWISE_OPENCL_LIBRARY").empty())
    return "CLBlast calls libOpenCL.so.1, and TILEWISE_OPENCL_LIBRARY names another library";
  return loaded().library.is_complete() ? "" : "libclblast.so.1 could not be loaded; install Debian's libclblast1";
}

void check(CLBlastStatusCode status, const char* call) {
  if (status != CLBlastSuccess)
    throw error(errc::unsupported, std::string(call) + " returned " + std::to_string(status));
}

/// CLBlast computes by columns. A product by rows is the product of the transposes in reverse order, and is passed in
/// that form: CLBlast's own support for rows takes one more pass over C.
template <class T>
void multiply(const impl::matmul::sizes& s, const registry::bindings& where, backend::opencl::queue& queue, auto gemm,
              auto workspace) {
  const auto buffer_of = [](const backend::memory& m) { return static_cast<cl_mem>(m.base); };
  const auto offset_of = [](const backend::memory& m) { return m.offset / sizeof(T); };
  cl_command_queue commands = queue.commands();
  std::size_t bytes = 0;
  check(workspace(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeNo, s.n, s.m, s.k, offset_of(where.in[1]),
                  s.ldb, offset_of(where.in[0]), s.lda, offset_of(where.out[0]), s.ldc, &commands, &bytes),
        "CLBlast's GemmTempBufferSize");
  const backend::buffer scratch(queue, std::max(bytes, sizeof(T)));
  check(gemm(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeNo, s.n, s.m, s.k, T(1), buffer_of(where.in[1]),
             offset_of(where.in[1]), s.ldb, buffer_of(where.in[0]), offset_of(where.in[0]), s.lda, T(0),
             buffer_of(where.out[0]), offset_of(where.out[0]), s.ldc, &commands, nullptr, buffer_of(scratch)),
        "CLBlast's Gemm");
}

void run_matmul(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const impl::matmul::sizes s(p);
  if (p.type == dtype::f32)
    multiply<float>(s, where, queue, loaded().sgemm, loaded().sgemm_workspace);
  else
    multiply<double>(s, where, queue, loaded().dgemm, loaded().dgemm_workspace);
}

}  // namespace

std::vector<registry::variant> clblast_variants() {
  return {{.algorithm = "matmul",
           .backend = "opencl",
           .name = "clblast",
           .order = registry::claim::own,
           .types = float_types,
           .source = "CLBlast's Gemm",
           .unsupported = unsupported,
           .run = run_matmul,
           .bound = product_bound,
           .peer = true}};
}

}  // namespace tilewise::peers
