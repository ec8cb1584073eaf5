// SPDX-License-Identifier: Apache-2.0
// What:   sort by its definition; never optimised.
// Order:  by code (code.hpp); elements with the same code in the order of the input.
// Shape:  one std::stable_sort of codes with their indices on the calling thread.
// Limits: workspace of 16 bytes per element; works in place.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "registry/variant.hpp"
#include "sort/code.hpp"
#include "sort/problem.hpp"

#include <algorithm>

namespace tilewise::impl::sort {

namespace {

template <class Bits>
struct element {
  Bits code;
  std::uint64_t index;
};

template <class Bits>
std::vector<element<Bits>> sorted_elements(const Bits* keys, std::uint64_t n, sort_code<Bits> code) {
  std::vector<element<Bits>> all(n);
  for (std::uint64_t i = 0; i < n; ++i) all[i] = {code.encode(keys[i]), i};
  std::stable_sort(all.begin(), all.end(),
                   [](const element<Bits>& a, const element<Bits>& b) { return a.code < b.code; });
  return all;
}

/// `to` may be `from`.
template <class Value, class Bits>
void gather(const Value* from, Value* to, const std::vector<element<Bits>>& sorted) {
  const std::vector<Value> values(from, from + sorted.size());
  for (const element<Bits>& e : sorted) *to++ = values[e.index];
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    using bits = key_bits<T>;
    const auto code = code_of<T>(is_descending(p));
    const auto sorted = sorted_elements(where.in[0].as<const bits>(), p.n(), code);
    bits* y = where.out[0].as<bits>();
    for (const auto& e : sorted) *y++ = code.decode(e.code);
    if (payload_of(p) == payload::values32)
      gather(where.in[1].as<const std::uint32_t>(), where.out[1].as<std::uint32_t>(), sorted);
    if (payload_of(p) == payload::values64)
      gather(where.in[1].as<const std::uint64_t>(), where.out[1].as<std::uint64_t>(), sorted);
    if (payload_of(p) == payload::indices) {
      auto* indices = where.out[1].as<std::uint32_t>();
      for (const auto& e : sorted) *indices++ = static_cast<std::uint32_t>(e.index);
    }
  });
}

}  // namespace

std::vector<registry::variant> sort_serial_variants() {
  return {{.algorithm = "sort",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "std::stable_sort over the codes of src/sort/code.hpp",
           .run = run}};
}

}  // namespace tilewise::impl::sort
