// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis on the CPU: short lines by networks, side by side in vectors; longer lines by the kernels of sort.
// Order:  by code (sort/code.hpp). Equal codes are equal bits, so every method gives the same lines.
// Shape:  a worker sorts one or more lines alone. Longer columns are first copied to rows, a few at a time. If lines
//         are long and too few to keep all workers busy, they are sorted one after another, each by all workers.
// Limits: for each worker, workspace for a line and for its sort; for columns, as many lines as fill a cache line.
//         Works in place.
// Twins:  serial.cpp; the kernels are in kernels.cpp, and those of sort.
#include "backend/cpu/own_queues.hpp"
#include "base/ceil_div.hpp"
#include "base/lasting.hpp"
#include "registry/variant.hpp"
#include "sort/cpu/methods.hpp"
#include "sort/network.hpp"
#include "sort_axis/cpu/kernels.hpp"
#include "sort_axis/problem.hpp"

#include <algorithm>

namespace tilewise::impl::sort_axis {

namespace {

/// Whether a network sorts the lines. Very short lines gain by it even if some lanes have no line. Longer lines use it
/// as long as it is faster than sorting each line by itself; at 512 elements it takes a third of the time.
template <class Bits>
bool has_short_lines(std::uint64_t count, std::uint64_t length) {
  return length <= (count < lanes<Bits> ? 16 : 1024);
}
/// Elements of a task of short lines: enough that the cost of taking a task does not show.
constexpr std::uint64_t task_elements = 32768;

template <class Bits>
struct job {
  some_lines<const Bits> in;
  some_lines<Bits> out;
  std::uint64_t count, length;
  sort::sort_code<Bits> code;
  backend::cpu::queue& queue;

  bool by_rows() const { return in.element == 1 && out.element == 1; }
};

template <class Bits>
void copy_lines(some_lines<const Bits> from, some_lines<Bits> to, std::uint64_t count, std::uint64_t length) {
  for (std::uint64_t e = 0; e < length; ++e)
    for (std::uint64_t l = 0; l < count; ++l)
      to.at[l * to.line + e * to.element] = from.at[l * from.line + e * from.element];
}

template <class Bits>
some_lines<Bits> from_line(some_lines<Bits> all, std::uint64_t line) {
  return {all.at + line * all.line, all.line, all.element};
}

// Short lines

std::vector<comparator> network_for(std::uint64_t length) {
  std::vector<comparator> all;
  sort::for_each_comparator(static_cast<unsigned>(length), [&](unsigned low, unsigned high) {
    all.push_back({static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high)});
  });
  return all;
}

/// Calls `use` with the network. Networks for up to 32 elements are cached, since making one takes longer than sorting
/// a few lines with it.
template <class Use>
void with_network_for(std::uint64_t length, const Use& use) {
  constexpr std::uint64_t kept = 32;
  if (length > kept) return use(network_for(length));
  static const auto& all = base::lasting([] {
    std::vector<std::vector<comparator>> made;
    for (std::uint64_t n = 0; n <= kept; ++n) made.push_back(network_for(n));
    return made;
  });
  use(all[length]);
}

template <class Bits>
void sort_short_lines(const job<Bits>& j, const std::vector<comparator>& all) {
  const auto& kernels = kernels_for<Bits>(j.queue.level());
  const std::uint64_t blocks = ceil_div(j.count, lanes<Bits>), slot = lanes<Bits> * j.length;
  const std::uint64_t each = std::max<std::uint64_t>(1, task_elements / slot);
  const backend::buffer scratch(j.queue, j.queue.threads() * slot * sizeof(Bits));
  j.queue.for_each_tile(ceil_div(blocks, each), [&](std::uint64_t task, unsigned worker) {
    for (std::uint64_t line = task * each * lanes<Bits>; line < std::min(j.count, (task + 1) * each * lanes<Bits>);
         line += lanes<Bits>)
      kernels.sort_side_by_side(from_line(j.in, line), from_line(j.out, line), std::min(lanes<Bits>, j.count - line),
                                j.length, {all.data(), all.size()}, j.code, scratch.as<Bits>() + worker * slot);
  });
}

// Longer lines

template <class Bits>
void sort_row(const Bits* in, Bits* out, std::uint64_t length, const sort::sort_code<Bits>& code,
              backend::cpu::queue& queue) {
  sort::sort_by_digits<Bits, sort::nothing>(
      {.in = {const_cast<Bits*>(in), {}}, .out = {out, {}}, .n = length, .code = code}, queue);
}

template <class Bits>
void sort_rows(const job<Bits>& j) {
  backend::cpu::own_queues own(j.queue);
  j.queue.for_each_tile(j.count, [&](std::uint64_t row, unsigned worker) {
    sort_row(j.in.at + row * j.in.line, j.out.at + row * j.out.line, j.length, j.code, own.of(worker));
  });
}

/// How many columns are copied at once, and their distance in the copy. Columns a power of two apart would compete for
/// the same cache sets.
template <class Bits>
constexpr std::uint64_t strip = 64 / sizeof(Bits);
template <class Bits>
std::uint64_t pitch_of(std::uint64_t length) {
  return ceil_div(length, strip<Bits>) * strip<Bits> + strip<Bits>;
}

template <class Bits>
void sort_columns(const job<Bits>& j) {
  const std::uint64_t pitch = pitch_of<Bits>(j.length);
  const std::uint64_t width = std::clamp<std::uint64_t>(j.count / j.queue.threads(), 1, strip<Bits>);
  const backend::buffer rows(j.queue, j.queue.threads() * width * pitch * sizeof(Bits));
  backend::cpu::own_queues own(j.queue);
  j.queue.for_each_tile(ceil_div(j.count, width), [&](std::uint64_t task, unsigned worker) {
    const std::uint64_t first = task * width, count = std::min(width, j.count - first);
    Bits* const mine = rows.as<Bits>() + worker * width * pitch;
    copy_lines<Bits>(from_line(j.in, first), {mine, pitch, 1}, count, j.length);
    for (std::uint64_t l = 0; l < count; ++l)
      sort_row(mine + l * pitch, mine + l * pitch, j.length, j.code, own.of(worker));
    copy_lines<Bits>({mine, pitch, 1}, from_line(j.out, first), count, j.length);
  });
}

// Long lines, too few to share out

template <class Bits>
void sort_rows_by_all(const job<Bits>& j) {
  for (std::uint64_t row = 0; row < j.count; ++row)
    sort_row(j.in.at + row * j.in.line, j.out.at + row * j.out.line, j.length, j.code, j.queue);
}

/// The same as copy_lines, by all workers.
template <class Bits>
void copy_lines_by_all(some_lines<const Bits> from, some_lines<Bits> to, std::uint64_t count, std::uint64_t length,
                       backend::cpu::queue& queue) {
  constexpr std::uint64_t piece = 4096;
  queue.for_each_tile(ceil_div(length, piece), [&](std::uint64_t i, unsigned) {
    copy_lines<Bits>({from.at + i * piece * from.element, from.line, from.element},
                     {to.at + i * piece * to.element, to.line, to.element}, count, std::min(piece, length - i * piece));
  });
}

template <class Bits>
void sort_columns_by_all(const job<Bits>& j) {
  const std::uint64_t pitch = pitch_of<Bits>(j.length), width = std::min(strip<Bits>, j.count);
  const backend::buffer rows(j.queue, width * pitch * sizeof(Bits));
  const some_lines<Bits> there{rows.as<Bits>(), pitch, 1};
  for (std::uint64_t first = 0; first < j.count; first += width) {
    const std::uint64_t count = std::min(width, j.count - first);
    copy_lines_by_all<Bits>(from_line(j.in, first), there, count, j.length, j.queue);
    sort_rows_by_all<Bits>({{there.at, pitch, 1}, there, count, j.length, j.code, j.queue});
    copy_lines_by_all<Bits>({there.at, pitch, 1}, from_line(j.out, first), count, j.length, j.queue);
  }
}

template <class Bits>
void sort_lines(const job<Bits>& j) {
  constexpr std::uint64_t long_line = 32768, each = 4;  // lines per worker: all workers then end at about one time
  const bool is_shared_out = j.queue.threads() == 1 || j.length < long_line || j.count >= each * j.queue.threads();
  if (has_short_lines<Bits>(j.count, j.length))
    with_network_for(j.length, [&](const std::vector<comparator>& all) { sort_short_lines(j, all); });
  else if (j.by_rows())
    is_shared_out ? sort_rows(j) : sort_rows_by_all(j);
  else
    is_shared_out ? sort_columns(j) : sort_columns_by_all(j);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  const registry::lines from = lines_of_input(p), to = lines_of_output(p);
  if (from.count == 0 || from.length == 0) return;
  with_type(p.type, [&]<class T>(T) {
    using bits = sort::key_bits<T>;
    sort_lines<bits>({{where.in[0].as<const bits>(), from.line, from.element},
                      {where.out[0].as<bits>(), to.line, to.element},
                      from.count,
                      from.length,
                      sort::code_of<T>(is_descending(p)),
                      static_cast<backend::cpu::queue&>(q)});
  });
}

}  // namespace

std::vector<registry::variant> sort_axis_cpu_variants() {
  return {{.algorithm = "sort_axis",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "K. E. Batcher, Sorting networks and their applications (1968), of lines side by side; longer "
                     "lines as in sort: D. E. Knuth, The Art of Computer Programming 3, 5.2.5",
           .run = run}};
}

}  // namespace tilewise::impl::sort_axis
