// SPDX-License-Identifier: Apache-2.0
// What the measurements say, in sentences; the page and the README's table use the same ones.
#pragma once

#include "report/model.hpp"

#include <cmath>

namespace tilewise::report {

/// Whether all results of code that keeps the order have the bits of the definition.
std::string bits_finding(const model& m);
bool any_wrong(const model& m);
/// Of a row that is not ok: "the run was interrupted", or the reason that its record gives.
std::string why_untimed(const row& r);
/// How code with its own order differed between two runs on the same input, each variant at its largest size.
std::vector<std::string> change_findings(const model& m);

/// "memory", "arithmetic" or "launch".
std::string_view bound_word(record::ceiling by);
/// From this share of a limit on that is named as what bounds a time: no other cause can have cost it more than a
/// fifth.
inline constexpr double near_its_limit = 0.8;
/// As percent() tells it: what reads "80 %" is at 80 % or more.
inline bool is_near_its_limit(double share) { return std::round(share * 100) >= near_its_limit * 100; }
/// What bounds a row: "the device's copy".
std::string limit_words(const row& r);
/// Whether it is faster than its counted operations allow, by a method that needs fewer: then it has no share of them.
bool does_less_than_counted(const row& r);
/// Above a limit of which the time is in doubt, so that the limit bounds nothing.
bool is_above_unsure_limit(const row& r);
/// Whether its share of its limit says anything.
bool shows_share(const row& r);
/// What its limit allows a row at most; none without a limit, or where that counts operations which it does not need.
std::optional<double> speed_at_limit(const row& r, speed_unit unit);
/// "1.25 ms", and "? 1.25 ms" where the time is in doubt.
std::string marked_time(const row& r);
/// How much of it a row reaches: "90 %", or "? 90 %" where the limit's time is in doubt. It has a fraction.
std::string share_text(const row& r);

/// "32.0 KiB, 1.00 MiB and 32.0 MiB"; empty if none is known.
std::string cache_sizes(const record::host& of);
/// What to know of the machines and builds before any time is believed, such as that one was busy.
std::vector<std::string> machine_notes(const model& m);

/// "1.05 (1.03 to 1.07)"
std::string ratio_text(const interval& value);
/// The interleaved ratio of a row to another variant, if there is one.
std::optional<ratio> ratio_to(const row& r, const std::string& variant);

/// Where the fastest of our variants changes with the size: "cpu:naive is the fastest up to 256x256, cpu:ntt from
/// 512x512 on."; empty if one is the fastest at all sizes. Executors of one variant count as one. Which of them have
/// no time at sizes at which another leads is told too.
std::string crossings(const board& b);

/// What the ranks of each group of devices sent each other, by its fastest variant at the largest size: "group on
/// 4*cpu:serial at n = 1,000: 4 ranks (threads) sent 48 B in 1 exchange, 5.00 µs of 1.20 ms."
std::vector<std::string> travel_findings(const panel& p);

/// Rows of our variants with both transfers, the one with the shortest sum at each size.
std::vector<const row*> best_trips(const board& b);
/// Of our variants and one thread's. Null where all is in doubt: what is longer for sure does not stand in for it.
const row* best_on_cpu(const panel& p, std::uint64_t n);
/// The size from which the device wins, with its transfers counted; empty if no round trip has a CPU time beside it.
std::string break_even(const panel& p, const board& b);

}  // namespace tilewise::report
