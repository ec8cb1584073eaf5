// SPDX-License-Identifier: Apache-2.0
// What the measurements show, in sentences; the page and the README's table use the same ones.
#pragma once

#include "report/model.hpp"

#include <cmath>

namespace tilewise::report {

/// Whether all results of code that keeps the order have the definition's bits.
std::string bits_finding(const model& m);
bool any_wrong(const model& m);
/// For a row that is not ok: "the run was interrupted", or the reason in its record.
std::string why_untimed(const row& r);
/// How much the results of code with its own order changed between two runs on the same input, for each variant and
/// type at the largest size.
std::vector<std::string> change_findings(const model& m);

/// "memory", "arithmetic" or "launch".
std::string_view bound_word(record::ceiling by);
/// A row at this share of a limit or more is called bound by it: no other cause can have cost it more than a fifth of
/// its time.
inline constexpr double near_its_limit = 0.8;
/// Compares the share as percent() prints it: what reads "80 %" counts as 80 %.
inline bool is_near_its_limit(double share) { return std::round(share * 100) >= near_its_limit * 100; }
/// What bounds a row: "the device's copy".
std::string limit_words(const row& r);
/// Whether the row beats its limit of counted operations, because its method needs fewer. Then its share is not shown.
bool does_less_than_counted(const row& r);
/// Whether it is above a limit whose time is in doubt, so that the limit bounds nothing.
bool is_above_unsure_limit(const row& r);
/// Whether its share of its limit means anything.
bool shows_share(const row& r);
/// The highest speed that its limit allows. None without a limit, or if the limit counts operations that the row does
/// not need.
std::optional<double> speed_at_limit(const row& r, speed_unit unit);
/// "1.25 ms", and "? 1.25 ms" where the time is in doubt.
std::string marked_time(const row& r);
/// The share of its limit that a row reaches: "90 %", or "? 90 %" if the limit's time is in doubt. The row must have a
/// fraction.
std::string share_text(const row& r);

/// "32.0 KiB, 1.00 MiB and 32.0 MiB"; empty if no size is known.
std::string cache_sizes(const record::host& of);
/// What a reader must know about the machines and builds before trusting a time, such as that a machine was busy.
std::vector<std::string> machine_notes(const model& m);

/// "1.05 (1.03 to 1.07)"
std::string ratio_text(const interval& value);
/// The ratio of a row to another variant that was measured in turns with it, if there is one.
std::optional<ratio> ratio_to(const row& r, const std::string& variant);

/// Where the fastest of our variants changes with the size: "cpu:naive is the fastest up to 256x256, cpu:ntt from
/// 512x512 on."; empty if one is the fastest at all sizes. Executors of one variant count as one. It also names
/// variants that have no time at sizes where another one leads.
std::string crossings(const board& b);

/// What the ranks of each group of devices sent each other, for the fastest variant at the largest size: "group on
/// 4*cpu:serial at n = 1,000: 4 ranks (threads) sent 48 B in 1 exchange, 5.00 µs of 1.20 ms."
std::vector<std::string> travel_findings(const panel& p);

/// For each size, the row of our variants with the shortest time including both transfers.
std::vector<const row*> best_trips(const board& b);
/// The fastest CPU row, among our variants and code on one thread. Null if the fastest is in doubt: a row that is
/// surely slower does not replace it.
const row* best_on_cpu(const panel& p, std::uint64_t n);
/// The size from which the device is faster than the CPU, including transfers; empty if no size has both times.
std::string break_even(const panel& p, const board& b);

}  // namespace tilewise::report
