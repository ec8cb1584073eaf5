// SPDX-License-Identifier: Apache-2.0
// What:   rows times x with vectors; compiled once for each x86-64 level.
// Order:  a product is rounded, then the tree of cpu_blocks.hpp takes it as its element.
// Shape:  W rows at once, so that they share x, the value of row l ends up in lane l, and no row needs work of its own
//         at the end. Fewer rows, and long ones where vectors are prefetched, go by themselves.
// Limits: reads nothing outside the rows and x.
// Twins:  matvec_serial.cpp; reduce_cpu_kernels.cpp.
#include "matvec/matvec_cpu_kernels.hpp"

#include "backend/cpu/cpu_blocks.hpp"

namespace tilewise::impl::matvec::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;
template <class T>
using blocks = level::blocks<T, order::sum>;
template <class T>
constexpr unsigned width = level::lanes<T>;

template <class T>
vector<T> multiply(vector<T> a, vector<T> x) {
  return level::apply<order::product, T>(a, x);
}

/// The products of two arrays as a source for cpu_blocks.hpp.
template <class T>
struct products {
  const T *a, *x;

  products operator+(std::uint64_t elements) const { return {a + elements, x + elements}; }
  friend vector<T> load(products p) { return multiply<T>(level::load(p.a), level::load(p.x)); }
  friend vector<T> load_first(products p, unsigned count) {
    return multiply<T>(level::load_first(p.a, count), level::load_first(p.x, count));
  }
  friend void fetch(products p, std::uint64_t further) {
    level::fetch(p.a, further);
    level::fetch(p.x, further);
  }
};

template <class T>
T prefix(const T* a, const T* x, std::uint64_t n, T* scratch, T first) {
  const std::uint64_t vectors = n / width<T>;
  if (vectors != 0) {
    blocks<T>::upsweep_vectors(products<T>{a, x}, vectors, scratch, 0);
    blocks<T>::upsweep(scratch, vectors, scratch + blocks<T>::room(vectors));
  }
  return blocks<T>::fold(products<T>{a, x}, n, scratch, first);
}

/// The vectors of a column of rows, times one vector of x, as a source: vector i is that of row i.
template <class T, bool Part>
struct column {
  const T* a;
  std::uint64_t stride;
  vector<T> x;
  const T* soon;              // what will be read soon, in memory order
  unsigned count = width<T>;  // where it is part of a vector

  column operator+(unsigned elements) const {
    return {a + elements / width<T> * stride, stride, x, soon + elements, count};
  }
  friend vector<T> load(const column& c) {
    return multiply<T>(Part ? level::load_first(c.a, c.count) : level::load(c.a), c.x);
  }
  friend void fetch(const column& c, std::uint64_t) { level::fetch(c.soon, 0); }
};

/// Where vectors are prefetched, which takes their order in memory, only rows shorter than this go W at once.
template <class T>
constexpr std::uint64_t short_row = 2 * width<T>* width<T>;

/// The first `count` lanes of x; -1 in the others, since 0 * -1 = -0.0 is the identity of the sum.
template <class T>
vector<T> first_of(const T* x, unsigned count) {
  const auto present = level::lane_numbers<T>() < static_cast<level::mask_lane<T>>(count);
  return present ? level::load_first(x, count) : level::broadcast(static_cast<T>(-1));
}

/// The vectors of a block of columns of W / 2 rows, times x, as a source: vector i is that of row i % (W / 2), and
/// those of the upper half are the next W columns.
template <class T>
struct patch {
  const T* a;
  std::uint64_t stride;
  const T* x;

  patch operator+(unsigned elements) const {
    constexpr unsigned rows = width<T> / 2;
    const unsigned vectors = elements / width<T>, across = vectors / rows * width<T>;
    return {a + vectors % rows * stride + across, stride, x + across};
  }
  friend vector<T> load(const patch& p) { return multiply<T>(level::load(p.a), level::load(p.x)); }
};

/// The values of n columns of W rows, n = 0 mod 2 W, one row in each lane. Half of the rows are read at a time: where
/// rows are a multiple of 4096 bytes apart, as 1024 floats are, a first-level cache of eight ways has no room for 16.
/// One Zen 4 core reads 64 such rows at 59 GB/s instead of 41.
template <class T>
[[gnu::always_inline]] inline vector<T> lanes_of_halves(const T* a, std::uint64_t stride, const T* x, std::uint64_t n) {
  constexpr unsigned half = width<T> / 2, across = 2 * width<T>, together = 4;
  typename blocks<T>::stack done;
  for (std::uint64_t left = n / across; left != 0;) {
    const unsigned some = left < together ? static_cast<unsigned>(left) : together;
    vector<T> lower[together];
    for (unsigned i = 0; i < some; ++i)
      lower[i] = blocks<T>::template values<width<T>>(patch<T>{a + i * across, stride, x + i * across});
    for (unsigned i = 0; i < some; ++i) {
      const vector<T> upper =
          blocks<T>::template values<width<T>>(patch<T>{a + half * stride + i * across, stride, x + i * across});
      done.push(blocks<T>::join(level::blend<half, T>(lower[i], upper), level::swap_blend<half, T>(lower[i], upper)));
    }
    a += some * across;
    x += some * across;
    left -= some;
  }
  return done.fold(level::broadcast(order::sum::identity<T>()));
}

/// The values of W rows, one per lane.
template <class T, bool Fetch>
[[gnu::always_inline]] inline vector<T> lanes_of_rows(const T* a, std::uint64_t stride, const T* x, std::uint64_t n,
                                                      std::uint64_t ahead) {
  vector<T> prefix = level::broadcast(order::sum::identity<T>());
  if constexpr (!Fetch && width<T> == 16) {
    const std::uint64_t even = n - n % (2 * width<T>);
    prefix = lanes_of_halves(a, stride, x, even);
    a += even;
    x += even;
    n -= even;
  }
  return blocks<T>::template prefixes_of_rows < Fetch
             ? level::reading::ahead
             : level::reading::freely >
                   (
                       n,
                       [&](std::uint64_t c) {
                         return column<T, false>{a + c, stride, level::load(x + c), a + ahead + c * width<T>};
                       },
                       [&](std::uint64_t c, unsigned count) {
                         return column<T, true>{a + c, stride, first_of(x + c, count), a + ahead + c * width<T>, count};
                       },
                       prefix);
}

/// One row at a time, in memory order, while all of x stays in the first-level cache; with a longer x, four rows at
/// once, a block of W vectors at a time.
constexpr std::uint64_t near_bytes = 16384, most_rows = 4;

template <class T>
void long_rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t count, std::uint64_t n, T* scratch) {
  const std::uint64_t vectors = n / width<T>, slot = blocks<T>::scratch_elements(n);
  const std::uint64_t block = count == 1 ? vectors : width<T>;
  for (std::uint64_t v = 0; v < vectors; v += block)
    for (std::uint64_t r = 0; r < count; ++r)
      blocks<T>::upsweep_vectors(products<T>{a + r * stride + v * width<T>, x + v * width<T>},
                                 vectors - v < block ? vectors - v : block, scratch + r * slot + v,
                                 vectors - v < block ? 0 : vectors - v - block);
  for (std::uint64_t r = 0; r < count; ++r) {
    T* const levels = scratch + r * slot;
    if (vectors != 0) blocks<T>::upsweep(levels, vectors, levels + blocks<T>::room(vectors));
    const T value = blocks<T>::fold(products<T>{a + r * stride, x}, n, levels, order::sum::identity<T>());
    y[r] = level::canonical<T>(level::broadcast(value))[0];
  }
}

/// Taken by columns, rows are read in an order that no hardware prefetcher follows. Where nothing is prefetched they
/// are first copied in memory order: two Zen 4 cores read rows of 64 floats at 46 GB/s instead of 22.
template <class T, bool Fetch>
void lane_rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n) {
  constexpr std::uint64_t lead = blocks<T>::lead * width<T>, most = 8192 / sizeof(T);
  const std::uint64_t step = width<T> * stride, all = step - stride + n;
  T copied[most];
  if (!Fetch && all <= most) {
    __builtin_memcpy(copied, a, all * sizeof(T));
    a = copied;
  }
  level::store<T>(y, level::canonical<T>(lanes_of_rows<T, Fetch>(a, stride, x, n, (lead + step - 1) / step * step)));
}

template <class T>
void rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t count, std::uint64_t n, T* scratch) {
  std::uint64_t i = 0;
  const bool fetch = backend::cpu::gains_by_fetching();
  if (!fetch || n < short_row<T>) {
    const auto w_rows = fetch ? lane_rows<T, true> : lane_rows<T, false>;
    for (; i + width<T> <= count; i += width<T>) w_rows(a + i * stride, stride, x, y + i, n);
  }
  const std::uint64_t together = n * sizeof(T) > near_bytes ? most_rows : 1;
  for (; i < count; i += together)
    long_rows(a + i * stride, stride, x, y + i, count - i < together ? count - i : together, n, scratch);
}

}  // namespace

template <class T>
const cpu_kernels<T>& kernels() {
  static constexpr cpu_kernels<T> all{[](std::uint64_t n) { return most_rows * blocks<T>::scratch_elements(n); },
                                      rows<T>, prefix<T>};
  return all;
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>();
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::matvec::TILEWISE_LEVEL
