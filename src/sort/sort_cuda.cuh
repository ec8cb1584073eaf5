// What:   how the sorts on CUDA see their operands: keys of 4 or 8 bytes with nothing, 4 or 8 bytes beside each.
// Order:  sort_code.hpp; what moves between passes is codes, encoded at the first load and decoded at the last store.
// Shape:  none.
// Limits: none.
// Twins:  sort_cpu.hpp, sort_opencl.hpp.
#pragma once

#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "sort/sort_cuda.hpp"
#include "sort/sort_operands.hpp"

namespace tilewise::impl::sort::on_cuda {

using namespace backend::cuda;

template <class Value>
inline constexpr unsigned value_bytes = moves<Value> ? sizeof(Value) : 0;

template <class Bits, class Value>
struct sort_task {
  elements<Bits, Value> in, out;
  std::uint64_t n;
  sort_code<Bits> code;

  bool in_place() const { return in.keys == out.keys || (moves<Value> && in.values == out.values); }
};

/// What a pass does with a key when it loads and when it stores it.
template <class Bits>
struct coding {
  sort_code<Bits> code;
  bool encodes, decodes;

  __device__ Bits loaded(Bits key) const { return encodes ? code.encode(key) : key; }
  __device__ Bits stored(Bits key) const { return decodes ? code.decode(key) : key; }
};

template <class Value>
__device__ Value load_value(const Value* values, std::uint64_t i) {
  return values == nullptr ? static_cast<Value>(i) : values[i];
}

/// Calls f(task).
template <class F>
void with_task(const registry::problem& p, const registry::memories& where, F&& f) {
  with_elements(
      p, where,
      [&]<class Bits, class Value>(sort_code<Bits> code, elements<Bits, Value> in, elements<Bits, Value> out) {
        f(sort_task<Bits, Value>{in, out, p.n(), code});
      });
}

}  // namespace tilewise::impl::sort::on_cuda
