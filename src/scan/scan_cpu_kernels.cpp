// What:   the outputs of one tile from its block values and its carry; compiled once for each x86-64 level.
// Order:  every lane descends from the carry and adds the block on its left on each step to the right; an inclusive
//         output is the exclusive prefix of the next position.
// Shape:  one tile on one thread; each vector for itself, since the prefix before it is known.
// Limits: touches nothing outside [in, in + n) and [out, out + n); out may be in.
// Twins:  scan_serial.cpp; the block values come from reduce_cpu_kernels.cpp.
#include "scan/scan_cpu_kernels.hpp"

#include "backend/cpu/cpu_blocks.hpp"
#include "backend/instantiate.hpp"

namespace tilewise::impl::scan::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;

template <class T>
constexpr unsigned width = level::lanes<T>;

/// The outputs of one vector of elements; prefix[0] lies before it and prefix[1] behind it.
template <class T, class Op, bool Inclusive>
vector<T> outputs(vector<T> elements, const T* prefix, T init) {
  vector<T> result = level::blocks<T, Op>::prefixes(elements, level::broadcast(prefix[0]));
  if constexpr (Inclusive) result = level::shift_down<T>(result, level::broadcast(prefix[1]));
  return level::canonical<T>(level::apply<Op, T>(level::broadcast(init), result));
}

/// Whole vectors; what lies at `ahead` comes into the cache meanwhile.
template <class T, class Op, bool Inclusive>
void write(const T* in, T* out, std::uint64_t vectors, const T* prefix, T init, const T* ahead) {
  for (std::uint64_t i = 0; i < vectors; ++i) {
    __builtin_prefetch(ahead + i * width<T>);
    level::store<T>(out + i * width<T>, outputs<T, Op, Inclusive>(level::load(in + i * width<T>), prefix + i, init));
  }
}

/// Copies past the caches; `count` is a multiple of the vector.
template <class T>
void copy_streaming(const T* from, T* to, std::uint64_t count) {
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(to) % level::vector_bytes / sizeof(T);
  std::uint64_t i = (width<T> - misaligned) % width<T>;
  level::store_first<T>(to, level::load(from), static_cast<unsigned>(i));
  for (; i + width<T> <= count; i += width<T>) level::stream<T>(to + i, level::load(from + i));
  const unsigned rest = static_cast<unsigned>(count - i);
  level::store_first<T>(to + i, level::load_first(from + i, rest), rest);
}

/// As write, but through a piece of the first-level cache: only whole aligned vectors go past the caches well, and
/// the caller's array may begin anywhere.
template <class T, class Op, bool Inclusive>
void write_streaming(const T* in, T* out, std::uint64_t vectors, const T* prefix, T init, const T* ahead) {
  constexpr std::uint64_t most = 8192 / level::vector_bytes;
  T stage[most * width<T>];
  for (std::uint64_t i = 0; i < vectors; i += most) {
    const std::uint64_t count = vectors - i < most ? vectors - i : most;
    write<T, Op, Inclusive>(in + i * width<T>, stage, count, prefix + i, init, ahead + i * width<T>);
    copy_streaming(stage, out + i * width<T>, count * width<T>);
  }
  _mm_sfence();
}

template <class T, class Op, bool Inclusive>
void write_tile(const T* in, T* out, std::uint64_t n, const T* prefix, const descent<T>& how) {
  const std::uint64_t vectors = n / width<T>;
  const auto write_vectors = how.stream ? write_streaming<T, Op, Inclusive> : write<T, Op, Inclusive>;
  write_vectors(in, out, vectors, prefix, how.init, how.ahead != nullptr ? how.ahead : in);
  const unsigned rest = static_cast<unsigned>(n % width<T>);
  if (rest == 0) return;
  const T ends[2] = {prefix[vectors], prefix[vectors]};  // the prefix behind an incomplete vector is in no output
  const vector<T> elements = level::load_first(in + vectors * width<T>, rest);
  level::store_first<T>(out + vectors * width<T>, outputs<T, Op, Inclusive>(elements, ends, how.init), rest);
}

template <class T, class Op>
void descend(const T* in, T* out, std::uint64_t n, T* scratch, const descent<T>& how) {
  if (n < width<T>)
    scratch[0] = how.carry;
  else
    level::blocks<T, Op>::downsweep(scratch, n / width<T>, how.carry, how.next);
  (how.inclusive ? write_tile<T, Op, true> : write_tile<T, Op, false>)(in, out, n, scratch, how);
}

}  // namespace

template <class T>
cpu_downsweep<T> downsweep(op operation) {
  static constexpr cpu_downsweep<T> all[] = {descend<T, order::sum>, descend<T, order::product>, descend<T, order::min>,
                                             descend<T, order::max>};
  return all[static_cast<std::size_t>(operation)];
}

#define TILEWISE_INSTANTIATE(T) template cpu_downsweep<T> downsweep<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::scan::TILEWISE_LEVEL
