// What:   the outputs of one tile from its block values and its carry; compiled once for each x86-64 level.
// Order:  every lane descends from the carry and adds the block on its left on each step to the right; an inclusive
//         output is the exclusive prefix of the next position.
// Shape:  one tile on one thread; each vector for itself, since the prefix before it is known.
// Limits: touches nothing outside [in, in + n) and [out, out + n); out may be in.
// Twins:  scan_serial.cpp; the block values come from reduce_cpu_kernels.cpp.
#include "scan/scan_cpu_kernels.hpp"

#include "backend/cpu/cpu_blocks.hpp"
#include "backend/instantiate.hpp"
#include "reduce/reduce_cpu_kernels.hpp"

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

/// As write, but past the caches. Only whole aligned vectors go there well and the caller's array may begin anywhere,
/// so they are cut anew from a few vectors at a time: few, so that storing some overlaps with computing the next.
template <class T, class Op, bool Inclusive>
void write_streaming(const T* in, T* out, std::uint64_t vectors, const T* prefix, T init, const T* ahead) {
  constexpr std::uint64_t most = 8;
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(out) % level::vector_bytes / sizeof(T);
  const unsigned head = static_cast<unsigned>(width<T> - misaligned), rest = width<T> - head;
  T stage[(most + 1) * width<T>];  // the last vector before, and new ones
  for (std::uint64_t i = 0; i < vectors; i += most) {
    const std::uint64_t count = vectors - i < most ? vectors - i : most, at = i * width<T>;
    write<T, Op, Inclusive>(in + at, stage + width<T>, count, prefix + i, init, ahead + at);
    const bool starts = i == 0 && rest != 0;
    if (starts) level::store_first<T>(out, level::load(stage + width<T>), head);
    for (std::uint64_t j = starts ? width<T> : 0; j < count * width<T>; j += width<T>)
      level::stream<T>(out + at + j - rest, level::load(stage + head + j));
    level::store<T>(stage, level::load(stage + count * width<T>));
  }
  level::store_first<T>(out + vectors * width<T> - rest, level::load_first(stage + head, rest), rest);
  _mm_sfence();
}

template <class T, class Op, bool Inclusive>
void write_tile(const T* in, T* out, std::uint64_t n, const T* prefix, const descent<T>& how) {
  const std::uint64_t vectors = n / width<T>;
  const auto write_vectors = how.stream ? write_streaming<T, Op, Inclusive> : write<T, Op, Inclusive>;
  if (vectors != 0) write_vectors(in, out, vectors, prefix, how.init, how.ahead != nullptr ? how.ahead : in);
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

template <class T, class Op>
void small(const T* in, T* out, std::uint64_t n, const T* init, bool inclusive) {
  constexpr T identity = Op::template identity<T>();
  T scratch[reduce::small_scratch];
  level::blocks<T, Op>::upsweep(in, n, scratch);
  descend<T, Op>(in, out, n, scratch,
                 {.carry = identity, .init = init == nullptr ? identity : *init, .inclusive = inclusive});
}

template <class T, class Op>
constexpr cpu_kernels<T> kernels_of{descend<T, Op>, small<T, Op>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(op operation) {
  static constexpr const cpu_kernels<T>* all[] = {&kernels_of<T, order::sum>, &kernels_of<T, order::product>,
                                                  &kernels_of<T, order::min>, &kernels_of<T, order::max>};
  return *all[static_cast<std::size_t>(operation)];
}

#define TILEWISE_INSTANTIATE(T) template const cpu_kernels<T>& kernels<T>(op);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::scan::TILEWISE_LEVEL
