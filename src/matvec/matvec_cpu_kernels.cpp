// What:   rows times x with vectors; compiled once for each x86-64 level.
// Order:  a product is rounded, then the tree of cpu_blocks.hpp takes it as its element.
// Shape:  long rows: one after the other, neighbours meet in shuffles. Short rows: W of them at once, so that the value
//         of row l ends up in lane l and nothing is left to do for a row by itself.
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

/// The products of two arrays as a source of cpu_blocks.hpp.
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

/// `next` as in upsweep_vectors.
template <class T>
T prefix_before(const T* a, const T* x, std::uint64_t n, T* scratch, T first, std::uint64_t next) {
  const std::uint64_t vectors = n / width<T>;
  if (vectors != 0) {
    blocks<T>::upsweep_vectors(products<T>{a, x}, vectors, scratch, next);
    blocks<T>::upsweep(scratch, vectors, scratch + blocks<T>::room(vectors));
  }
  return blocks<T>::fold(products<T>{a, x}, n, scratch, first);
}

template <class T>
T prefix(const T* a, const T* x, std::uint64_t n, T* scratch, T first) {
  return prefix_before(a, x, n, scratch, first, 0);
}

/// The vectors of a column of rows, times one vector of x, as a source: vector i is that of row i.
template <class T, bool Part>
struct column {
  const T* a;
  std::uint64_t stride;
  vector<T> x;
  std::uint64_t ahead;        // elements to what is read soon
  unsigned count = width<T>;  // where it is a part of a vector

  column operator+(unsigned elements) const { return {a + elements / width<T> * stride, stride, x, ahead, count}; }
  friend vector<T> load(const column& c) {
    return multiply<T>(Part ? level::load_first(c.a, c.count) : level::load(c.a), c.x);
  }
  friend void fetch(const column& c, std::uint64_t) { level::fetch(c.a, c.ahead); }
};

/// Rows shorter than this go W at once.
template <class T>
constexpr std::uint64_t short_row = 2 * width<T>* width<T>;

/// The first `count` lanes of x; -1 in the others, since 0 * -1 = -0.0 is the identity of the sum.
template <class T>
vector<T> first_of(const T* x, unsigned count) {
  const auto present = level::lane_numbers<T>() < static_cast<level::mask_lane<T>>(count);
  return present ? level::load_first(x, count) : level::broadcast(static_cast<T>(-1));
}

/// The values of W short rows, one a lane.
template <class T>
[[gnu::always_inline]] inline vector<T> lanes_of_rows(const T* a, std::uint64_t stride, const T* x, unsigned n,
                                                      std::uint64_t ahead) {
  const auto join = [](vector<T> l, vector<T> r) { return level::apply<order::sum, T>(l, r); };
  vector<T> block[8];  // 2 W blocks of W columns at most
  unsigned depth = 0;
  for (unsigned c = 0; c < n / width<T>; ++c) {
    const column<T, false> whole{a + c * width<T>, stride, level::load(x + c * width<T>), ahead};
    vector<T> value = blocks<T>::template values<width<T>, true>(whole);
    for (unsigned bits = c; (bits & 1) != 0; bits >>= 1) value = join(block[--depth], value);
    block[depth++] = value;
  }
  vector<T> prefix = level::broadcast(order::sum::identity<T>());
  for (unsigned i = 0; i < depth; ++i) prefix = join(prefix, block[i]);
  unsigned first = n / width<T> * width<T>;
  for (unsigned digit = width<T> / 2; digit != 0; digit /= 2) {
    if ((n & digit) == 0) continue;
    const column<T, true> part{a + first, stride, first_of(x + first, digit), ahead, digit};
    prefix = join(prefix, blocks<T>::template values<width<T>, true>(part));
    first += digit;
  }
  return prefix;
}

template <class T>
void rows(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t count, std::uint64_t n, T* scratch) {
  constexpr std::uint64_t lead = blocks<T>::lead * width<T>;
  std::uint64_t i = 0;
  if (n < short_row<T>) {
    const std::uint64_t step = width<T> * stride, ahead = (lead + step - 1) / step * step;
    for (; i + width<T> <= count; i += width<T>)
      level::store<T>(y + i,
                      level::canonical<T>(lanes_of_rows(a + i * stride, stride, x, static_cast<unsigned>(n), ahead)));
  }
  const std::uint64_t next = stride - n < lead ? blocks<T>::lead : 0;
  for (; i < count; ++i) {
    const T prefix = prefix_before(a + i * stride, x, n, scratch, order::sum::identity<T>(), i + 1 < count ? next : 0);
    y[i] = level::canonical<T>(level::broadcast(prefix))[0];
  }
}

}  // namespace

template <class T>
const cpu_kernels<T>& kernels() {
  static constexpr cpu_kernels<T> all{blocks<T>::scratch_elements, rows<T>, prefix<T>};
  return all;
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>();
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

}  // namespace tilewise::impl::matvec::TILEWISE_LEVEL
