// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis by its definition; never optimised.
// Order:  by code (sort/code.hpp), for each row or column by itself. Equal codes are equal bits.
// Shape:  one std::sort of each line's codes on the calling thread.
// Limits: workspace for one line; works in place.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "registry/variant.hpp"
#include "sort/code.hpp"
#include "sort_axis/problem.hpp"

#include <algorithm>

namespace tilewise::impl::sort_axis {

namespace {

template <class Bits>
void sort_line(const Bits* in, std::uint64_t in_step, Bits* out, std::uint64_t out_step, std::vector<Bits>& codes,
               const sort::sort_code<Bits>& code) {
  for (std::uint64_t i = 0; i < codes.size(); ++i) codes[i] = code.encode(in[i * in_step]);
  std::sort(codes.begin(), codes.end());
  for (std::uint64_t i = 0; i < codes.size(); ++i) out[i * out_step] = code.decode(codes[i]);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const registry::lines from = lines_of_input(p), to = lines_of_output(p);
  with_type(p.type, [&]<class T>(T) {
    using bits = sort::key_bits<T>;
    std::vector<bits> codes(from.length);
    for (std::uint64_t l = 0; l < from.count; ++l)
      sort_line(where.in[0].as<const bits>() + l * from.line, from.element, where.out[0].as<bits>() + l * to.line,
                to.element, codes, sort::code_of<T>(is_descending(p)));
  });
}

}  // namespace

std::vector<registry::variant> sort_axis_serial_variants() {
  return {{.algorithm = "sort_axis",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "std::sort over the codes of src/sort/code.hpp, for each row or column",
           .run = run}};
}

}  // namespace tilewise::impl::sort_axis
