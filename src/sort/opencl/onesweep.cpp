// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:onesweep.
// Order:  onesweep.cl.
// Shape:  one launch counts all digits, and one launch for each digit moves all elements. Few elements are merged
//         instead. Many 64-bit keys are sorted only by as many digits as tell them apart. The device decides how many,
//         and launches that are not needed end at once.
// Limits: fewer than 2^31 elements; local memory for one tile and its counts; devices on which packets work.
// Twins:  serial.cpp, cuda/radix.cu.
#include "backend/opencl/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/opencl/shared.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view sort_onesweep_cl, sort_settle_cl;
}

namespace tilewise::impl::sort {

namespace {

using registry::problem;
using registry::tuning;

// The same numbers as in onesweep.cl.
constexpr unsigned digit_values = 256, count_group = 1024, count_rows = 8, count_bytes = 32 * digit_values * 4;
constexpr unsigned warps = digit_values / 32;
std::string group_definition() { return " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(digit_values)); }
constexpr std::uint64_t most_elements = (std::uint64_t{1} << 31) - 1;

// The keys of a work-item; the largest number is only for 4-byte keys without values.
constexpr std::array<unsigned, 6> rows_values{0, 1, 2, 3, 4, 5};
constexpr std::array<std::string_view, 6> rows_words{"auto", "8", "16", "18", "22", "30"};
// "planned": only as many leading digits as tell keys apart.
constexpr std::array<unsigned, 3> digits_values{0, 1, 2};
constexpr std::array<std::string_view, 3> digits_words{"auto", "all", "planned"};
constexpr std::array<registry::tuning_axis, 2> axes{
    {{"rows", rows_values, 0, rows_words}, {"digits", digits_values, 0, digits_words}}};

/// The tiles by which "auto" merges, up to the size where merging was faster.
constexpr opencl_tiles merged_tiles{256};
bool is_merged(const problem& p, const tuning& t) {
  const auto [rows, digits] = t.of(axes);
  return rows == 0 && digits == 0 && merged_tiles.tiles(p.n()) <= (size_of(p.type) == 4 ? 4 : 16);
}

/// Chooses the rows. "auto" takes few rows while there are few tiles; then as many as leave room for several groups on
/// a compute unit. Keys without values take fewer registers.
unsigned rows_of(const problem& p, const tuning& t) {
  constexpr std::uint64_t few = 1 << 18, many = 1 << 22;
  const auto [rows, digits] = t.of(axes);
  if (rows != 0) return std::array{8u, 16u, 18u, 22u, 30u}[rows - 1];
  if (p.n() <= few) return 8;
  const bool is_alone = payload_of(p) == payload::none;
  if (widest(p) == 8) return is_alone ? 18 : 16;
  return is_alone && p.n() >= many ? 30 : 22;
}

/// Whether the device plans the passes. "auto" does not for few keys: there a pass takes no longer than the launches
/// that a plan keeps in reserve.
bool is_planned(const problem& p, const tuning& t) {
  constexpr std::uint64_t least = 1 << 21;
  const auto [rows, digits] = t.of(axes);
  return digits == 0 ? size_of(p.type) == 8 && p.n() >= least : digits == 2;
}

/// How many groups count the digits: up to two per compute unit, which has room for two.
std::uint64_t counting_groups(std::uint64_t n, const device_info& on) {
  return std::min<std::uint64_t>(ceil_div(n, std::uint64_t{count_group} * count_rows),
                                 2 * std::max(1u, on.compute_units));
}

void sweep_all(const opencl_sort& sort, unsigned rows) {
  const std::uint64_t n = sort.count(), tiles = ceil_div(n, std::uint64_t{rows} * digit_values);
  const unsigned passes = sort.passes();
  const auto launch = [&](const backend::opencl::message_board& board) {
    sort.look(sort.kernel("tw_count_digits"), counting_groups(n, sort.queue().device().info()), count_group, 0,
              board.words, board.launch);
    for (unsigned pass = 0; pass < passes; ++pass)
      sort.move(sort.kernel("tw_sweep"), tiles, digit_values, pass, board.words, board.launch,
                static_cast<std::uint32_t>(board.drawn + pass * tiles), std::uint32_t{pass});
  };
  sort.queue().launch_drawing(passes * tiles, (passes + tiles) * digit_values, sizeof(std::uint32_t), launch,
                              1 + passes);
}

/// Enqueues a launch for every digit, of which the plan uses some; then the launches that sort again if the plan fails.
void sweep_by_plan(const problem& p, const opencl_sort& sort, unsigned rows) {
  constexpr unsigned plan_bytes = 256, few = 4;  // few: groups per compute unit
  const std::uint64_t n = sort.count(), tiles = ceil_div(n, std::uint64_t{rows} * digit_values);
  const std::uint64_t groups = few * std::max(1u, sort.queue().device().info().compute_units);
  const unsigned passes = sort.passes();
  const auto likely = ceil_div(static_cast<unsigned>(std::bit_width(n)) + 3, 8u);  // the digits that random keys need
  const backend::buffer plan(sort.queue(), plan_bytes);
  const cl_kernel settle =
      sort.queue().program(embedded::sort_settle_cl, sizes_of(p) + group_definition()).kernel("tw_settle");
  const auto launch = [&](const backend::opencl::message_board& board) {
    const auto sweep = [&](std::uint32_t nth) {
      const bool is_likely = nth < likely;
      sort.move_by_plan(sort.kernel(is_likely ? "tw_sweep_by_plan" : "tw_sweep_by_few"),
                        is_likely ? tiles : std::min(tiles, groups), digit_values, board.words, board.launch,
                        backend::memory(plan), nth);
    };
    sort.look(sort.kernel("tw_count_digits"), counting_groups(n, sort.queue().device().info()), count_group, 0,
              board.words, board.launch);
    sort.queue().launch_tiles(sort.kernel("tw_make_plan"), 1, digit_values, n, std::uint32_t{sort.is_in_place()},
                              board.words, board.launch, backend::memory(plan));
    for (unsigned nth = 0; nth < passes; ++nth) sweep(nth);
    sort.settle(settle, std::min(tiles, 2 * groups), digit_values, backend::memory(plan));
    for (unsigned nth = 0; nth < passes; ++nth) sweep(passes + nth);
  };
  sort.queue().launch_drawing(0, (passes + tiles) * digit_values, sizeof(std::uint32_t), launch, 1 + 2 * passes);
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  if (p.n() == 0) return;
  if (is_merged(p, t)) return sort_runs_by_merging(p, where, merged_tiles, p.n(), 0, queue);
  const unsigned rows = rows_of(p, t);
  opencl_sort sort(p, where, queue, embedded::sort_onesweep_cl,
                   group_definition() + " -DTW_ROWS=" + std::to_string(rows) +
                       (is_planned(p, t) ? " -DTW_PLANNED " : " ") +
                       backend::opencl::definitions_of(dtype::u32, op::sum));
  sort.plan(static_cast<unsigned>(size_of(p.type)), false);
  is_planned(p, t) ? sweep_by_plan(p, sort, rows) : sweep_all(sort, rows);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  if (const std::string why = backend::opencl::lacks_packets(on.info()); !why.empty()) return why;
  const auto [rows, digits] = t.of(axes);
  if (digits == 2 && size_of(p.type) != 8) return "digits=planned takes keys of 8 bytes";
  if (p.n() > most_elements) return "it takes at most " + std::to_string(most_elements) + " elements";
  const std::uint64_t tile = std::uint64_t{rows_of(p, t)} * digit_values * widest(p);
  const std::uint64_t sweep = tile + (warps + 1) * digit_values * sizeof(std::uint32_t) + sizeof(std::uint32_t);
  return backend::opencl::too_large(on.info(), count_group,
                                    std::max({sweep, std::uint64_t{count_bytes}, merge_path_bytes(p, merged_tiles)}));
}

std::string yields(const problem&, const backend::device& on) {
  return on.info().is_cpu ? "radix is faster on a CPU, whose groups have no lanes to rank in" : "";
}

}  // namespace

registry::variant opencl_onesweep_variant() {
  return {.algorithm = "sort",
          .backend = "opencl",
          .name = "onesweep",
          .types = all_dtypes,
          .source =
              "Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, "
              "arXiv:2206.01784",
          .tuning = axes,
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::sort
