// SPDX-License-Identifier: Apache-2.0
// What:   polymul/cuda:cufft: both factors padded with zeros to a power of two, one batch of two cuFFT transforms of
//         doubles, the product of the spectra, the inverse transform, scaled and rounded to the nearest integer.
// Order:  its own. Rounding errors are about 1e-16 * log2(length) of the largest coefficient: the result is exact while
//         that is below a half, up to coefficients of about 2^48, and close beyond.
// Shape:  one item per coefficient around the transforms, groups of 256.
// Limits: no modulus; lengths that cuFFT counts in 32 bits.
// Twins:  polymul/serial.cpp.
// cuFFT is loaded when it is first measured, like cuBLAS. Plans are made once per length and kept, as a program would
// keep them; the first call of a case, which is not timed, pays for them.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "peers/dynamic_library.hpp"
#include "peers/variants.hpp"
#include "polymul/problem.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include <cufft.h>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;
namespace polymul = impl::polymul;

struct cufft {
  dynamic_library library{"libcufft.so.12", "libcufft.so.11"};
  decltype(&cufftPlanMany) plan_many = library.find("cufftPlanMany");
  decltype(&cufftSetStream) set_stream = library.find("cufftSetStream");
  decltype(&cufftExecD2Z) forward = library.find("cufftExecD2Z");
  decltype(&cufftExecZ2D) back = library.find("cufftExecZ2D");
};

const cufft& fft() {
  static const cufft loaded;
  return loaded;
}

void check(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw error(errc::unsupported, std::string(call) + " of cuFFT failed with status " + std::to_string(status));
}

struct plans {
  cufftHandle forward = 0, back = 0;

  explicit plans(std::uint64_t length) {
    int size = static_cast<int>(length);
    const auto make = [&](cufftHandle& handle, cufftType type, int batch) {
      check(fft().plan_many(&handle, 1, &size, nullptr, 1, 0, nullptr, 1, 0, type, batch), "cufftPlanMany");
    };
    make(forward, CUFFT_D2Z, 2);
    make(back, CUFFT_Z2D, 1);
  }
};

/// The plans for one device and length, set to the queue's stream.
plans plans_of(cuda::queue& q, std::uint64_t length) {
  static std::map<std::pair<int, std::uint64_t>, plans> kept;
  int ordinal = 0;
  TW_CUDA(cudaGetDevice(&ordinal));
  const std::pair key{ordinal, length};
  auto found = kept.find(key);
  if (found == kept.end()) found = kept.emplace(key, plans(length)).first;  // stored only after both were made
  const plans& p = found->second;
  check(fft().set_stream(p.forward, q.stream()), "cufftSetStream");
  check(fft().set_stream(p.back, q.stream()), "cufftSetStream");
  return p;
}

constexpr unsigned group = 256;

unsigned groups_for(std::uint64_t items) { return static_cast<unsigned>(ceil_div(items, group)); }

__device__ std::uint64_t item() { return std::uint64_t{blockIdx.x} * group + threadIdx.x; }

template <class T>
__global__ void pad(const T* a, std::uint64_t n, const T* b, std::uint64_t m, double* out, std::uint64_t length) {
  const std::uint64_t i = item();
  if (i >= length) return;
  out[i] = i < n ? static_cast<double>(a[i]) : 0.0;
  out[length + i] = i < m ? static_cast<double>(b[i]) : 0.0;
}

/// The second spectrum follows the first in memory. The product replaces the first.
__global__ void multiply(cufftDoubleComplex* spectra, std::uint64_t count) {
  const std::uint64_t i = item();
  if (i >= count) return;
  const cufftDoubleComplex x = spectra[i], y = spectra[count + i];
  spectra[i] = {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};
}

/// cuFFT does not divide by the length. That is a power of two, so this division is exact.
__global__ void round_to_integers(const double* values, double scale, std::int64_t* c, std::uint64_t count) {
  const std::uint64_t i = item();
  if (i < count) c[i] = __double2ll_rn(values[i] * scale);
}

std::uint64_t length_of(const polymul::sizes& s) { return std::bit_ceil(std::max<std::uint64_t>(2, s.product())); }

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (!fft().library.is_complete()) return "neither libcufft.so.12 nor libcufft.so.11 can be loaded";
  if (polymul::is_range(p)) return std::string(polymul::whole_only);
  if (polymul::modulus_of(p) != 0) return "as a peer it is measured without a modulus";
  if (polymul::sizes(p).product() > std::uint64_t{1} << 30) return "cuFFT counts in 32 bits";
  return "";
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  const polymul::sizes s(p);
  if (s.product() == 0) return;
  cuda::queue& q = cuda::enter(on);
  const std::uint64_t length = length_of(s), half = length / 2 + 1;
  const plans by = plans_of(q, length);
  const backend::buffer reals(q, 2 * length * sizeof(double)), spectra(q, 2 * half * sizeof(cufftDoubleComplex));
  auto* const values = reals.as<double>();
  auto* const complex = spectra.as<cufftDoubleComplex>();
  const auto pad_both = [&]<class T>(T) {
    pad<T><<<groups_for(length), group, 0, q.stream()>>>(where.in[0].as<const T>(), s.n, where.in[1].as<const T>(), s.m,
                                                         values, length);
  };
  if (p.type == dtype::i32)
    pad_both(std::int32_t{});
  else
    pad_both(std::int64_t{});
  TW_CUDA(cudaGetLastError());
  check(fft().forward(by.forward, values, complex), "cufftExecD2Z");
  multiply<<<groups_for(half), group, 0, q.stream()>>>(complex, half);
  TW_CUDA(cudaGetLastError());
  check(fft().back(by.back, complex, values), "cufftExecZ2D");
  round_to_integers<<<groups_for(s.product()), group, 0, q.stream()>>>(values, 1.0 / static_cast<double>(length),
                                                                       where.out[0].as<std::int64_t>(), s.product());
  TW_CUDA(cudaGetLastError());
}

/// Relative to the largest coefficient. At 2^21 coefficients about 1e-15 is expected; one lost product among as many is
/// 1e-7.
constexpr double bound = 1e-12;

}  // namespace

std::vector<registry::variant> cufft_variants() {
  return {{.algorithm = "polymul",
           .backend = "cuda",
           .name = "cufft",
           .order = registry::claim::own,
           .types = polymul::integer_types,
           .source = "cuFFT's transforms of doubles; exact for small coefficients only",
           .unsupported = unsupported,
           .run = run,
           .bound = bound,
           .peer = true}};
}

}  // namespace tilewise::peers
