// SPDX-License-Identifier: Apache-2.0
// Multiplies a matrix on the host by a vector with a device, some rows at a time.
#include "divide/pieces.hpp"
#include "matvec/problem.hpp"
#include "registry/matrix_shape.hpp"

#include <algorithm>

namespace tilewise::impl::matvec {

namespace {

/// Any number of rows.
void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  const sizes s(p);
  const std::uint64_t element = size_of(p.type), row = s.lda * element;
  const auto part = [&](std::uint64_t first, std::uint64_t n) {
    registry::problem of_rows = p;
    of_rows.shape.size[0] = n;
    return std::pair{
        of_rows,
        divide::piece{.in = {{{first * row, registry::elements_of({n, s.n, s.lda}) * element}, {0, s.n * element}}},
                      .out = {{{first * element, n * element}}}}};
  };
  divide::run_rows(how, queue, host, {.count = s.m, .row_bytes = row, .needed_whole = {false, true}, .part = part});
}

}  // namespace

const registry::division division{.is_possible = divide::always_divisible, .run = run};

}  // namespace tilewise::impl::matvec
