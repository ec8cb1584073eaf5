// SPDX-License-Identifier: Apache-2.0
// What:   rows times x with vectors; compiled once for each x86-64 level.
// Order:  a product is rounded, then the tree of backend/cpu/blocks.hpp takes it as its element.
// Shape:  W rows at once: they share x, and the value of row l ends up in lane l, so no row needs a separate step at
//         the end. Fewer rows are computed one by one, and so are long rows if vectors are prefetched. Rows in the
//         last-level cache that would evict each other from the first-level cache are read one after the other.
// Limits: reads nothing outside the rows and x.
// Twins:  serial.cpp; reduce/cpu/kernels.cpp.
#include "matvec/cpu/kernels.hpp"

#include "backend/cpu/blocks.hpp"

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

/// The products of two arrays as a source for backend/cpu/blocks.hpp.
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

template <class T>
T dot(const T* a, const T* x, std::uint64_t n) {
  return level::canonical<T>(blocks<T>::prefix_of_few(products<T>{a, x}, n))[0];
}

/// One vector of each row at the same columns, times one vector of x, as a source: vector i is that of row i.
template <class T, bool Part>
struct column {
  const T* a;
  std::uint64_t stride;
  vector<T> x;
  const T* soon;              // the elements that will be read soon, in memory order
  unsigned count = width<T>;  // with Part: how many lanes are columns

  column operator+(unsigned elements) const {
    return {a + elements / width<T> * stride, stride, x, soon + elements, count};
  }
  friend vector<T> load(const column& c) {
    return multiply<T>(Part ? level::load_first(c.a, c.count) : level::load(c.a), c.x);
  }
  friend void fetch(const column& c, std::uint64_t) { level::fetch(c.soon, 0); }
};

/// If vectors are prefetched, which must be in memory order, only rows shorter than this are computed W at once.
template <class T>
constexpr std::uint64_t short_row = 2 * width<T>* width<T>;
constexpr std::uint64_t short_bytes = 8192;  // size of W rows

/// The first `count` lanes of x; -1 in the others, since 0 * -1 = -0.0 is the identity of the sum.
template <class T>
vector<T> first_of(const T* x, unsigned count) {
  const auto present = level::lane_numbers<T>() < static_cast<level::mask_lane<T>>(count);
  return present ? level::load_first(x, count) : level::broadcast(static_cast<T>(-1));
}

/// W columns of W / 2 rows, then the next W columns of the same rows, times x, as a source: vector i is that of row
/// i % (W / 2).
template <class T>
struct patch {
  const T* a;
  std::uint64_t stride;
  const T* x;
  std::uint64_t soon = 0;  // distance in elements to what will be read soon, modulo 2^64

  patch operator+(unsigned elements) const {
    constexpr unsigned rows = width<T> / 2;
    const unsigned vectors = elements / width<T>, across = vectors / rows * width<T>;
    return {a + vectors % rows * stride + across, stride, x + across, soon};
  }
  friend vector<T> load(const patch& p) { return multiply<T>(level::load(p.a), level::load(p.x)); }
  /// Prefetches into the second-level cache. Must be always_inline, or gcc 12 takes it for a function without effect.
  [[gnu::always_inline]] friend void fetch(const patch& p, std::uint64_t) { __builtin_prefetch(p.a + p.soon, 0, 2); }
};

/// The values of n columns of W rows, one row in each lane; n is a multiple of 2 W. Half of the rows are read at a
/// time: if rows are a multiple of 4096 bytes apart, as 1024 floats are, an 8-way first-level cache cannot hold lines
/// of 16 rows. One Zen 4 core reads 64 such rows at 59 GB/s instead of 41. If rows come from memory, the next half is
/// prefetched, which is 3 to 8 % faster; from the caches it would be a tenth slower.
template <class T, level::reading How>
[[gnu::always_inline]] inline vector<T> lanes_of_halves(const T* a, std::uint64_t stride, const T* x, std::uint64_t n) {
  constexpr unsigned half = width<T> / 2, across = 2 * width<T>, together = 8;
  typename blocks<T>::stack done;
  for (std::uint64_t left = n / across; left != 0;) {
    const unsigned some = left < together ? static_cast<unsigned>(left) : together;
    const std::uint64_t down = half * stride, up = left != some ? some * across - down : down + left * across - n;
    vector<T> lower[together];
    for (unsigned i = 0; i < some; ++i)
      lower[i] = blocks<T>::template values<width<T>, How>(patch<T>{a + i * across, stride, x + i * across, down});
    for (unsigned i = 0; i < some; ++i) {
      const vector<T> upper =
          blocks<T>::template values<width<T>, How>(patch<T>{a + down + i * across, stride, x + i * across, up});
      done.push(blocks<T>::join(level::blend<half, T>(lower[i], upper), level::swap_blend<half, T>(lower[i], upper)));
    }
    a += some * across;
    x += some * across;
    left -= some;
  }
  return done.fold(level::broadcast(order::sum::identity<T>()));
}

/// P(n) of W rows, continued from `prefix`, one row in each lane.
template <class T, level::reading How>
[[gnu::always_inline]] inline vector<T> lanes_of_columns(const T* a, std::uint64_t stride, const T* x, std::uint64_t n,
                                                         std::uint64_t ahead, vector<T> prefix) {
  return blocks<T>::template prefixes_of_rows<How>(
      n,
      [&](std::uint64_t c) {
        return column<T, false>{a + c, stride, level::load(x + c), a + ahead + c * width<T>};
      },
      [&](std::uint64_t c, unsigned count) {
        return column<T, true>{a + c, stride, first_of(x + c, count), a + ahead + c * width<T>, count};
      },
      prefix);
}

/// This and the next functions write the values of W rows to y.
template <class T>
void rows_by_columns_ahead(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n, T*) {
  constexpr std::uint64_t lead = blocks<T>::lead * width<T>;
  const std::uint64_t step = width<T> * stride, ahead = (lead + step - 1) / step * step;
  const vector<T> none = level::broadcast(order::sum::identity<T>());
  level::store<T>(y, level::canonical<T>(lanes_of_columns<T, level::reading::ahead>(a, stride, x, n, ahead, none)));
}

/// Reads columns, by halves if W is 16.
template <class T, level::reading How>
void rows_together(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n, T*) {
  vector<T> prefix = level::broadcast(order::sum::identity<T>());
  const std::uint64_t even = width<T> == 16 ? n - n % (2 * width<T>) : 0;
  if constexpr (width<T> == 16) prefix = lanes_of_halves<T, How>(a, stride, x, even);
  level::store<T>(y, level::canonical<T>(
                         lanes_of_columns<T, level::reading::freely>(a + even, stride, x + even, n - even, 0, prefix)));
}

/// Copies short rows in memory order first, since no hardware prefetcher follows reads by columns: two Zen 4 cores read
/// rows of 64 floats at 46 GB/s instead of 22. Shorter vectors do not copy, since they read more columns at once: with
/// AVX2, a Zen 3 reads from the caches at 30 to 58 GB/s without copies, and at 20 to 29 with copies.
template <class T>
void short_rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n, T* scratch) {
  T copied[short_bytes / sizeof(T)];
  __builtin_memcpy(copied, a, ((width<T> - 1) * stride + n) * sizeof(T));
  rows_together<T, level::reading::freely>(copied, stride, x, y, n, scratch);
}

/// The block values of W rows at the same position, `slot` elements apart, as a source.
template <class T, bool Part>
struct stored {
  const T* from;
  std::uint64_t slot;
  unsigned count = width<T>;  // where it is part of a vector

  stored operator+(unsigned elements) const { return {from + elements / width<T> * slot, slot, count}; }
  friend vector<T> load(const stored& s) {
    if constexpr (!Part) return level::load(s.from);
    const auto present = level::lane_numbers<T>() < static_cast<level::mask_lane<T>>(s.count);
    return present ? level::load_first(s.from, s.count) : level::broadcast(order::sum::identity<T>());
  }
};

/// Computes the block values of one row after the other, then combines those of all rows. So hardware prefetchers
/// follow, and rows do not evict each other from the first-level cache: for 1024 rows of 1024 floats two Zen 4 cores
/// take 30 us instead of 35. From memory, reading all rows together is faster: 27 GB/s a core instead of 22.
template <class T>
void rows_in_turn(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n, T* scratch) {
  const std::uint64_t vectors = n / width<T>, slot = blocks<T>::room(vectors), done = vectors * width<T>;
  for (unsigned r = 0; r < width<T>; ++r)
    blocks<T>::upsweep_vectors(products<T>{a + r * stride, x}, vectors, scratch + r * slot, 0);
  const vector<T> prefix = blocks<T>::prefixes_of_rows(
      vectors,
      [&](std::uint64_t c) {
        return stored<T, false>{scratch + c, slot};
      },
      [&](std::uint64_t c, unsigned count) {
        return stored<T, true>{scratch + c, slot, count};
      });
  level::store<T>(y, level::canonical<T>(
                         lanes_of_columns<T, level::reading::freely>(a + done, stride, x + done, n - done, 0, prefix)));
}

/// If all of x stays in the first-level cache, one row at a time is read in memory order. With a longer x, four rows
/// are read at once, a block of W vectors at a time.
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

template <class T>
using rows_kernel = void(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t n, T* scratch);

/// Which function computes W rows together; null if rows are computed one by one.
template <class T>
rows_kernel<T>* way_of(std::uint64_t stride, std::uint64_t n, bool cached) {
  constexpr std::uint64_t long_bytes = 4096;
  constexpr std::uint64_t same_sets = 2048;  // rows this far apart fill few sets of the first-level cache
  if (backend::cpu::gains_by_fetching()) return n < short_row<T> ? rows_by_columns_ahead<T> : nullptr;
  const bool is_near = cached && level::vector_bytes < 64;  // fast even without the hardware prefetcher
  if (((width<T> - 1) * stride + n) * sizeof(T) <= short_bytes && !is_near) return short_rows<T>;
  if (width<T> == 16 && n * sizeof(T) >= long_bytes) {
    if (!cached) return rows_together<T, level::reading::ahead>;
    if (stride * sizeof(T) % same_sets == 0) return rows_in_turn<T>;
  }
  return rows_together<T, level::reading::freely>;
}

template <class T>
void rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t count, std::uint64_t n, T* scratch,
          bool cached) {
  std::uint64_t i = 0;
  if (rows_kernel<T>* const w_rows = way_of<T>(stride, n, cached))
    for (; i + width<T> <= count; i += width<T>) w_rows(a + i * stride, stride, x, y + i, n, scratch);
  const std::uint64_t together = n * sizeof(T) > near_bytes ? most_rows : 1;
  for (; i < count; i += together)
    long_rows(a + i * stride, stride, x, y + i, count - i < together ? count - i : together, n, scratch);
}

template <class T>
std::uint64_t scratch_elements(std::uint64_t n) {
  const std::uint64_t of_long = most_rows * blocks<T>::scratch_elements(n);
  const std::uint64_t in_turn = width<T> * blocks<T>::room(n / width<T>);
  return of_long < in_turn ? in_turn : of_long;
}

}  // namespace

template <class T>
const cpu_kernels<T>& kernels() {
  static constexpr cpu_kernels<T> all{scratch_elements<T>, rows<T>, prefix<T>, dot<T>};
  return all;
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>();
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::matvec::TILEWISE_LEVEL
