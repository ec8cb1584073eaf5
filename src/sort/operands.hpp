// SPDX-License-Identifier: Apache-2.0
// The operands of sorts whose memory has addresses; code.hpp has their types. For OpenCL see opencl/shared.hpp.
#pragma once

#include "registry/variant.hpp"
#include "sort/code.hpp"
#include "sort/problem.hpp"

namespace tilewise::impl::sort {

/// Room for n elements.
template <class Bits, class Value>
class workspace {
 public:
  workspace(backend::queue& queue, std::uint64_t n)
      : keys_(queue, n * sizeof(Bits)), values_(queue, moves<Value> ? n * sizeof(Value) : 0) {}
  elements<Bits, Value> all() const { return {keys_.as<Bits>(), values_.as<Value>()}; }

 private:
  backend::buffer keys_, values_;
};

template <class Bits, class Value>
struct sort_task {
  elements<Bits, Value> in, out;
  std::uint64_t n;
  sort_code<Bits> code;

  bool in_place() const { return in.keys == out.keys || (moves<Value> && in.values == out.values); }
};

/// Calls f(task) with the problem's types of keys and values.
template <class F>
void with_task(const registry::problem& p, const registry::bindings& where, F&& f) {
  const auto with_value = [&]<class Bits, class Value>(sort_code<Bits> code, Value) {
    Value* const values = has_values(p) ? where.in[1].as<Value>() : nullptr;
    f(sort_task<Bits, Value>{.in = {where.in[0].as<Bits>(), values},
                             .out = {where.out[0].as<Bits>(), where.out[1].as<Value>()},
                             .n = p.n(),
                             .code = code});
  };
  const auto with_bits = [&]<class Bits>(sort_code<Bits> code) {
    switch (payload_size(payload_of(p))) {
      case 0: return with_value(code, nothing{});
      case 4: return with_value(code, std::uint32_t{});
      default: return with_value(code, std::uint64_t{});
    }
  };
  with_type(p.type, [&]<class T>(T) { with_bits(code_of<T>(is_descending(p))); });
}

}  // namespace tilewise::impl::sort
