// SPDX-License-Identifier: Apache-2.0
// What:   how the sorts on CUDA load and store an element.
// Order:  code.hpp; what moves between passes is codes, encoded at the first load and decoded at the last store.
// Shape:  none.
// Limits: none.
// Twins:  opencl/program.cl.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "registry/variant.hpp"
#include "sort/operands.hpp"

namespace tilewise::impl::sort::on_cuda {

using namespace backend::cuda;

template <class Value>
inline constexpr unsigned value_bytes = moves<Value> ? sizeof(Value) : 0;

/// How a pass converts a key when it loads it and when it stores it.
template <class Bits>
struct coding {
  sort_code<Bits> code;
  bool encodes, decodes;

  __device__ Bits loaded(Bits key) const { return encodes ? code.encode(key) : key; }
  __device__ Bits stored(Bits key) const { return decodes ? code.decode(key) : key; }
};

/// The elements from place `begin` on. Where values are the places, there are none.
template <class Bits, class Value>
TILEWISE_ANYWHERE elements<Bits, Value> from_place(elements<Bits, Value> all, std::uint64_t begin) {
  all.keys += begin;
  if constexpr (moves<Value>)
    if (all.values != nullptr) all.values += begin;
  return all;
}

template <class Value>
__device__ Value load_value(const Value* values, std::uint64_t i) {
  return values == nullptr ? static_cast<Value>(i) : values[i];
}

}  // namespace tilewise::impl::sort::on_cuda
