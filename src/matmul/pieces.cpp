// SPDX-License-Identifier: Apache-2.0
// Multiplies matrices of any shape on the host with a device, one piece at a time.
#include "divide/pieces.hpp"
#include "base/ceil_div.hpp"
#include "matmul/problem.hpp"

#include <algorithm>

namespace tilewise::impl::matmul {

namespace {

/// The slice of a host matrix that one piece has. The rows of the matrix lie `stride` elements apart.
divide::slice block(std::uint64_t row, std::uint64_t rows, std::uint64_t column, std::uint64_t columns,
                    std::uint64_t stride, std::uint64_t element) {
  return {(row * stride + column) * element, {columns * element, rows, stride * element}};
}

/// A piece computes some rows and columns of C from these rows of A and columns of B. K is never cut, since an element
/// is one chain. On the device no matrix has gaps.
std::pair<registry::problem, divide::piece> block_of(const registry::problem& p, std::uint64_t row, std::uint64_t rows,
                                                     std::uint64_t column, std::uint64_t columns) {
  const sizes s(p);
  const std::uint64_t element = size_of(p.type);
  registry::problem part = p;
  part.shape = {rows, columns, s.k};
  return {part, divide::piece{
                    .in = {{block(row, rows, 0, s.k, s.lda, element), block(0, s.k, column, columns, s.ldb, element)}},
                    .out = {{block(row, rows, column, columns, s.ldc, element)}}}};
}

/// Some lines (rows of A or columns of B) of one factor stay on the device, while all lines of the other factor are
/// streamed past them. Then come the next lines of the first factor.
struct plan {
  bool b_stays;
  std::uint64_t lines;
};

/// The plan with the least to upload; among equals, the one with the least to upload before the first launch.
plan plan_for(const registry::problem& p, const backend::device& on) {
  constexpr std::uint64_t granule = 128;  // lines that suit the kernels' tiles
  const sizes s(p);
  const std::uint64_t room = divide::share_of_memory(on.info(), 2, 5), line = s.k * size_of(p.type);
  if (const std::uint64_t longest = divide::share_of_memory(on.info(), 1, 2); line > longest)
    throw error(errc::out_of_memory, to_string(p) + ": a row of A and a column of B take " + std::to_string(line) +
                                         " bytes each, of which " + on.info().name + " has room for " +
                                         std::to_string(longest) + ", and the sums over k are never cut; use the CPU");
  // A streamed line gives as many elements of C as lines stay on the device.
  const std::uint64_t fit = std::max<std::uint64_t>(1, room / std::max(line, 4 * size_of(p.type)));
  const std::uint64_t lines = fit > granule ? fit / granule * granule : fit;
  const auto uploads = [&](std::uint64_t staying, std::uint64_t passing) {
    return static_cast<double>(staying) + static_cast<double>(ceil_div(staying, lines)) * static_cast<double>(passing);
  };
  const double if_b_stays = uploads(s.n, s.m), if_a_stays = uploads(s.m, s.n);
  return {if_b_stays == if_a_stays ? s.n <= s.m : if_b_stays < if_a_stays, lines};
}

void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  constexpr std::uint64_t lines_worth_a_launch = 1024;
  const sizes s(p);
  if (s.m == 0 || s.n == 0) return;
  const plan by = plan_for(p, queue.device());
  const std::uint64_t staying = by.b_stays ? s.n : s.m, passing = by.b_stays ? s.m : s.n;
  for (std::uint64_t first = 0; first < staying; first += by.lines) {
    const std::uint64_t lines = std::min(by.lines, staying - first);
    divide::run_rows(how, queue, host,
                     {.count = passing,
                      .row_bytes = std::max(s.k, lines) * size_of(p.type),
                      .granule = lines_worth_a_launch,
                      .needed_whole = {!by.b_stays, by.b_stays},
                      .part = [&](std::uint64_t from, std::uint64_t n) {
                        return by.b_stays ? block_of(p, from, n, first, lines) : block_of(p, first, lines, from, n);
                      }});
  }
}

}  // namespace

const registry::division division{.is_possible = divide::always_divisible, .run = run};

}  // namespace tilewise::impl::matmul
