// SPDX-License-Identifier: Apache-2.0
// What:   diffusion by OpenACC, one step per launch; the field stays on the device between steps.
// Order:  mask.hpp.
// Shape:  a lane steps part of a column, a few rows; it reads all that it needs before it writes.
// Limits: 2^31 pieces.
// Twins:  serial.cpp, cuda/shared.cuh.
#include "backend/openacc/queue.hpp"
#include "base/ceil_div.hpp"
#include "diffuse/problem.hpp"
#include "order/operators.hpp"

namespace tilewise::impl::diffuse {

namespace {

constexpr std::array<unsigned, 4> heights{1, 2, 4, 8};
constexpr std::array<registry::tuning_axis, 1> axes{{{"height", heights, 4}}};
constexpr std::uint64_t most_pieces = 1u << 31;  // on a GPU 64-bit division takes several times as long as 32-bit
constexpr unsigned lanes = 128;                  // lanes of a gang

/// A product that the GPU's driver does not fuse with the sum after it.
struct device_arithmetic : plain_arithmetic {
  template <class T>
  TILEWISE_KERNEL_PART static T product(T a, T b) {
    return backend::openacc::product(a, b);
  }
};

/// The neighbours of an element away from the edges. This and the next are not lambdas: in templates lambdas lose the
/// attribute always_inline, and a function that is not inlined does not exist on the accelerator.
template <class T>
struct inside {
  const T* here;
  std::int64_t columns;

  TILEWISE_KERNEL_PART T operator()(int dy, int dx) const { return here[dy * columns + dx]; }
};

/// The neighbours of any element: in the strips 1, beyond an edge the value at the edge.
template <class T>
struct anywhere {
  const T* field;
  std::int64_t rows, columns, half, y, x;

  TILEWISE_KERNEL_PART static std::int64_t within(std::int64_t index, std::int64_t count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
  }
  TILEWISE_KERNEL_PART T operator()(int dy, int dx) const {
    const std::int64_t j = within(y + dy, rows), i = within(x + dx, columns);
    return i == (j < half ? 0 : columns - 1) ? T(1) : field[j * columns + i];
  }
};

std::uint64_t pieces_of(const sizes& s, unsigned height) { return ceil_div(s.rows, height) * s.columns; }

template <class T, mask Mask, unsigned Height>
void one_step(const T* from, T* to, const sizes& s, const weights<T>& given) {
  constexpr std::int64_t radius = radius_of(Mask);
  const auto rows = static_cast<std::int64_t>(s.rows), columns = static_cast<std::int64_t>(s.columns),
             half = static_cast<std::int64_t>(s.half());
  const auto pieces = static_cast<unsigned>(pieces_of(s, Height)), across = static_cast<unsigned>(s.columns);
  const unsigned gangs = ceil_div(pieces, lanes);
  // Scalars are passed with the launch. A struct would be copied to the device before each launch.
  const T centre = given.centre, side_x = given.side_x, side_y = given.side_y, corner = given.corner,
          far_x = given.far_x, far_y = given.far_y, rate = given.rate;
#pragma acc parallel loop gang vector num_gangs(gangs) vector_length(lanes) deviceptr(from, to)
  for (unsigned piece = 0; piece < pieces; ++piece) {
    const weights<T> w{centre, side_x, side_y, corner, far_x, far_y, rate};
    const std::int64_t top = std::int64_t{piece / across} * Height, i = piece % across;
    if (top >= radius && top + Height + radius <= rows && i > radius && i + radius + 1 < columns) {
      T next[Height];
#pragma GCC unroll 8
      for (unsigned k = 0; k < Height; ++k)
        next[k] = stepped<Mask, device_arithmetic>(w, inside<T>{from + (top + k) * columns + i, columns});
#pragma GCC unroll 8
      for (unsigned k = 0; k < Height; ++k) to[(top + k) * columns + i] = order::canonical(next[k]);
    } else {
      const std::int64_t bottom = top + Height < rows ? top + Height : rows;
#pragma GCC unroll 1
      for (std::int64_t j = top; j < bottom; ++j)
        to[j * columns + i] =
            order::canonical(stepped<Mask, device_arithmetic>(w, anywhere<T>{from, rows, columns, half, j, i}));
    }
  }
}

template <class T, mask Mask>
constexpr auto steps_of(unsigned height) {
  switch (height) {
    case 1: return one_step<T, Mask, 1>;
    case 2: return one_step<T, Mask, 2>;
    case 4: return one_step<T, Mask, 4>;
    default: return one_step<T, Mask, 8>;
  }
}

template <class T>
auto step_of(mask m, unsigned height) {
  switch (m) {
    case mask::five_points: return steps_of<T, mask::five_points>(height);
    case mask::nine_points: return steps_of<T, mask::nine_points>(height);
    default: return steps_of<T, mask::cross>(height);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [height] = t.of(axes);
  auto& queue = backend::openacc::enter(on);
  if (copies_only(p, where, queue)) return;
  const sizes s(p);
  const backend::buffer workspace(queue, s.steps > 1 ? s.elements() * size_of(p.type) : 0);
  with_float(p.type, [&]<class T>(T) {
    const weights<T> w = weights_in<T>(p);
    const auto step = step_of<T>(mask_of(p), height);
    for (std::uint64_t i = 0; i < s.steps; ++i) {
      const stage now(where, workspace, s.steps, i);
      backend::during("a step of OpenACC's", [&] { step(now.from.as<const T>(), now.to.as<T>(), s, w); });
    }
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning& t) {
  const auto [height] = t.of(axes);
  return pieces_of(sizes(p), height) < most_pieces ? "" : "it has more pieces than 32 bits can count; use higher ones";
}

}  // namespace

std::vector<registry::variant> diffuse_openacc_variants() {
  return {{.algorithm = "diffuse",
           .backend = "openacc",
           .name = "",
           .types = float_types,
           .source = "HiPerC's OpenACC program, its three loops in one: T. Keller, D. Wheeler et al.",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::diffuse
