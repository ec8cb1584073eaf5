// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:register_tiles: tiles of C in the threads' registers, by register_tiles.cuh, or, of
//         elements of 4 bytes, by piped_tiles.cuh.
// Order:  one chain per element.
// Shape:  five sizes of tile and three of piped ones, four of which are also shared out among the groups that run at
//         once; chosen by the size of C, and piped only where rows of A and B are read in packs.
// Limits: compute capability 8.0; elements of 4 bytes are shared out and piped.
// Twins:  serial.cpp, opencl/register_tiles.cl.
#include "matmul/cuda/piped_tiles.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

template <class T>
using half_shape = register_shape<T, 30, 64, 64, 8, 4, 16, 4>;
template <class T>
using medium_shape = register_shape<T, 31, 64, 128, 8, 4, 16, 2>;
template <class T>
using large_shape = register_shape<T, 37, 128, 128, 8, 8, 8, 2>;
template <class T>
using piped_medium_shape = piped_shape<T, 33, 64, 64, 8, 4, 3>;
/// The fastest of some dozen shapes, and of five dozen piped shapes, on an H200 for matrices of 256, 512, 1536, 1024
/// and 2048 and more. 8-byte types leave fewer registers, so they have separate shapes. Their speeds were measured with
/// integers; all these types take about the same time.
template <class T>
struct register_shapes
    : tile_shapes<90, register_shape<T, 12, 16, 32, 2, 2, 32, 4>, register_shape<T, 22, 32, 64, 4, 4, 32, 3>,
                  half_shape<T>, medium_shape<T>, large_shape<T>, shared<half_shape<T>, 1, 30>,
                  shared<medium_shape<T>, 1, 26>, shared<large_shape<T>, 2, 35>, piped_shape<T, 23, 32, 32, 4, 4, 4>,
                  piped_shape<T, 31, 64, 32, 4, 4, 3>, piped_medium_shape<T>,
                  shared<piped_medium_shape<T>, 3, 33, 75>> {};
/// How many shapes are not piped.
constexpr unsigned unpiped = 8;
template <class T>
requires(sizeof(T) == 8) struct register_shapes<T>
    : tile_shapes<90, register_shape<T, 26, 16, 32, 2, 2, 16, 4>, register_shape<T, 26, 32, 32, 2, 4, 16, 4>,
                  register_shape<T, 27, 32, 64, 4, 4, 16, 3>, register_shape<T, 27, 64, 64, 4, 4, 16, 2>,
                  register_shape<T, 24, 128, 128, 8, 8, 8, 1>> {
};

/// Whether a product is faster if operands whose rows do not begin at multiples of 16 bytes are copied. On an H200,
/// squares of 1535 are 3 % faster and squares of 4095 6 %; squares of 1023 are not, and thin products are slower.
template <class T>
bool is_worth_copies(const sizes& s) {
  return sizeof(T) == 4 && std::min({s.m, s.n, s.k}) > 1024;
}

/// Launches the kernel for tiles of this shape, with the number of groups and the arguments besides the operands.
template <class S, class... More>
void launch_tiles(const operands<typename S::T>& o, unsigned groups, cudaStream_t stream, const More&... more) {
  if constexpr (piped<S>) {
    constexpr auto kernel = [] {
      if constexpr (shared_shape<S>)
        return shared_piped_tiles<S>;
      else
        return piped_tiles<S>;
    }();
    TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes));
    kernel<<<groups, S::threads, S::shared_bytes, stream>>>(o, more...);
  } else if constexpr (shared_shape<S>) {
    shared_register_tiles<S><<<groups, S::threads, 0, stream>>>(o, more...);
  } else {
    register_tiles<S><<<groups, S::threads, 0, stream>>>(o, more...);
  }
  TW_CUDA(cudaGetLastError());
}

/// `tile` is the value of the axis.
template <class T>
void run_tiles(const registry::problem& p, const registry::bindings& where, unsigned tile, backend::cuda::queue& q) {
  const sizes s(p);
  const bool in_packs = is_packable(where.in[0].as<const T>(), s.lda) &&
                        is_packable(where.in[1].as<const T>(), s.ldb) && s.n % pack_length<T> == 0;
  using shapes = register_shapes<T>;  // of elements one by one piped tiles are slower
  shapes::with(shapes::choose(s, tile, q.device(), in_packs ? shapes::count : unpiped), [&]<class S>(S) {
    const auto all = [&] {  // shares, or a number of groups; before the copies, which may take the last room
      if constexpr (shared_shape<S>)
        return shares::of<S>(s, q);
      else
        return static_cast<unsigned>(tiles_of(s, S::rows, S::columns));
    }();
    const packable_operands<T> packable(p, where, q, is_worth_copies<T>(s));
    const operands<T> o(packable.problem(), packable.where());
    if constexpr (shared_shape<S>)
      launch_tiles<S>(o, all.groups, q.stream(), all);
    else
      launch_tiles<S>(o, all, q.stream());
  });
}

/// `half` is one of `medium`.
constexpr std::array<unsigned, 13> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
constexpr std::array<std::string_view, 13> words{"by_size",
                                                 "tiny",
                                                 "small",
                                                 "half",
                                                 "medium",
                                                 "large",
                                                 "half_shared",
                                                 "medium_shared",
                                                 "large_shared",
                                                 "piped_small",
                                                 "piped_half",
                                                 "piped_medium",
                                                 "piped_medium_shared"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", values, 0, words}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  order::with_wrapping_type(p.type, [&]<class T>(T) { run_tiles<T>(p, where, tile, backend::cuda::enter(on)); });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(axes);
  std::string reason;
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    reason = tile > register_shapes<T>::count ? "tiles are shared out and piped for elements of 4 bytes"
                                              : register_shapes<T>::too_many(p, tile, on);
  });
  return reason;
}

}  // namespace

registry::variant cuda_register_tiles_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "register_tiles",
          .types = all_dtypes,
          .source = "Volkov, Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, SC 2008",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::matmul
