// SPDX-License-Identifier: Apache-2.0
#include "report/roofline/roofline.hpp"

#include "report/format.hpp"
#include "report/model.hpp"

#include "registry/catalog.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

constexpr double width = 1.15;  // of a level

double median_speed(std::span<const reading> run) {
  std::vector<double> speeds;
  for (const reading& r : run) speeds.push_back(r.bytes_per_s);
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
  return speeds[speeds.size() / 2];
}

/// How many readings from the first on belong to one level.
std::size_t run_length(std::span<const reading> from) {
  double least = from[0].bytes_per_s, most = least;
  std::size_t n = 0;
  for (; n < from.size(); ++n) {
    least = std::min(least, from[n].bytes_per_s);
    most = std::max(most, from[n].bytes_per_s);
    if (most > width * least) break;
  }
  return n;
}

void find_runs(std::span<const reading> among, std::vector<std::span<const reading>>& found) {
  std::size_t first = 0, longest = 0;
  for (std::size_t i = 0; i < among.size(); ++i)
    if (const std::size_t n = run_length(among.subspan(i)); n > longest) first = i, longest = n;
  const std::span<const reading> run = among.subspan(first, longest);
  if (longest < 3 || run.back().bytes < 2 * run.front().bytes) return;
  find_runs(among.first(first), found);
  found.push_back(run);
  find_runs(among.subspan(first + longest), found);
}

bool are_alike(double one, double other) { return std::max(one, other) < width * std::min(one, other); }

}  // namespace

std::vector<memory_level> levels_of(std::span<const reading> by_size) {
  std::vector<std::span<const reading>> runs;
  find_runs(by_size, runs);
  std::vector<memory_level> levels;
  for (const auto& run : runs) {
    const double speed = median_speed(run);
    while (!levels.empty() && levels.back().bytes_per_s * width <= speed) levels.pop_back();
    if (!levels.empty() && are_alike(levels.back().bytes_per_s, speed))
      levels.back().to = run.back().bytes;
    else
      levels.push_back({run.front().bytes, run.back().bytes, speed});
  }
  return levels;
}

double speed_for(double bytes, std::span<const reading> by_size, std::span<const memory_level> levels) {
  for (const memory_level& level : levels)
    if (bytes <= level.to && (bytes >= level.from || &level == &levels.front())) return level.bytes_per_s;
  const auto next = std::find_if(by_size.begin(), by_size.end(), [&](const reading& r) { return r.bytes > bytes; });
  double most = 0;
  for (auto r = next == by_size.begin() ? next : std::prev(next); r != by_size.end(); ++r)
    most = std::max(most, r->bytes_per_s);
  return most;
}

namespace {

using record::ceiling;

ceiling ceiling_of(const row& limit) { return *record::word_of<ceiling>(limit.algorithm); }

/// In operations or bytes per second; none if the limit did no work.
std::optional<double> speed_of(const row& limit) {
  const auto speed = limit.is_arithmetic() ? limit.operations_per_s : limit.bytes_per_s;
  return limit.timed() && speed.value_or(0) > 0 ? speed : std::nullopt;
}

/// The name of the processor: all CPU executors are one.
std::string_view place_of(const row& r) { return r.is_cpu ? std::string_view("cpu") : r.device; }

void add_speed(std::vector<reading>& to, const row& limit) {
  const double bytes = ceiling_of(limit) == ceiling::read ? static_cast<double>(limit.n) : limit.bytes;
  if (bytes > 0) to.push_back({bytes, *speed_of(limit)});
}

/// Whether data of this size is certainly in memory, beyond all caches.
bool is_in_memory(double bytes, const device_roofs& roofs) {
  return roofs.levels.size() > 1 && bytes >= roofs.levels.back().from;
}

/// Whether one limit is preferred to another of its kind: one that can be trusted comes first, then the faster one.
bool counts_before(const row& limit, const row* known) {
  return known == nullptr ||
         std::pair(limit.ranked(), *speed_of(limit)) > std::pair(known->ranked(), *speed_of(*known));
}

class roof_collector {
 public:
  void add(const row& limit) {
    switch (ceiling_of(limit)) {
      case ceiling::read: return add_speed(roofs_.readings, limit);
      case ceiling::copy: return add_copy(limit);
      case ceiling::launch: return add_launch(1e9 * limit.bytes / *speed_of(limit));
      default:
        if (const row*& known = arithmetic_[{limit.dtype, ceiling_of(limit)}]; counts_before(limit, known))
          known = &limit;
    }
  }
  /// A kernel shows that a launch takes no longer than itself. A launch measured as longer was disturbed.
  void add_kernel(const row& r) {
    if (r.ranked()) shortest_ns_ = std::min(r.kernel->median, shortest_ns_.value_or(r.kernel->median));
  }
  device_roofs take() {
    if (roofs_.launch_ns && shortest_ns_) add_launch(*shortest_ns_);
    for (auto* speeds : {&roofs_.readings, &roofs_.copies})
      std::stable_sort(speeds->begin(), speeds->end(),
                       [](const reading& a, const reading& b) { return a.bytes < b.bytes; });
    roofs_.levels = levels_of(roofs_.readings);
    for (const reading& copy : roofs_.copies) {
      roofs_.fastest_copy = std::max(roofs_.fastest_copy, copy.bytes_per_s);
      if (is_in_memory(copy.bytes, roofs_))
        roofs_.fastest_beyond_caches = std::max(roofs_.fastest_beyond_caches, copy.bytes_per_s);
    }
    for (const auto& [of, limit] : arithmetic_)
      roofs_.arithmetic.push_back({of.first, of.second, *speed_of(*limit), limit->ranked()});
    return std::move(roofs_);
  }

 private:
  void add_copy(const row& limit) {
    if (limit.ranked() && !roofs_.are_copies_sure) roofs_.copies.clear();
    roofs_.are_copies_sure |= limit.ranked();
    if (limit.ranked() == roofs_.are_copies_sure) add_speed(roofs_.copies, limit);
  }
  void add_launch(double ns) {
    if (ns > 0) roofs_.launch_ns = std::min(ns, roofs_.launch_ns.value_or(ns));
  }

  device_roofs roofs_;
  std::optional<double> shortest_ns_;  // the shortest kernel
  std::map<std::pair<std::string_view, ceiling>, const row*> arithmetic_;
};

using place_key = std::pair<std::string_view, std::string_view>;  // machine, processor
using group_key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

place_key place_key_of(const row& r) { return {r.machine, place_of(r)}; }
group_key group_key_of(const row& r) { return {r.machine, place_of(r), r.group, r.asked_data}; }

/// Only kernels on warm caches have roofs.
bool is_held_against_roofs(const row& r) { return !is_job(r.mode) && r.mode != "cold"; }

class all_roofs {
 public:
  explicit all_roofs(const row_table& rows) {
    std::map<place_key, roof_collector> collectors;
    for (const row& r : rows) {
      if (!is_held_against_roofs(r)) continue;
      if (!r.is_limit() && r.kernel) collectors[place_key_of(r)].add_kernel(r);
      if (!r.is_limit() || !speed_of(r)) continue;
      collectors[place_key_of(r)].add(r);
      if (ceiling_of(r) != ceiling::copy) continue;
      if (const row*& known = copy_beside_[group_key_of(r)]; counts_before(r, known)) known = &r;
    }
    for (auto& [place, collector] : collectors) of_device_.emplace(place, collector.take());
  }

  /// Null if no limit of the device was measured.
  const device_roofs* of_device(const row& r) const {
    const auto found = of_device_.find(place_key_of(r));
    return found == of_device_.end() ? nullptr : &found->second;
  }
  /// The copy that was measured in turns with the row, or null.
  const row* copy_beside(const row& r) const {
    const auto found = copy_beside_.find(group_key_of(r));
    return found == copy_beside_.end() ? nullptr : found->second;
  }

 private:
  std::map<place_key, device_roofs> of_device_;
  std::map<group_key, const row*> copy_beside_;
};

bool is_integer(std::string_view type) { return type.starts_with('i') || type.starts_with('u'); }

/// The kind of arithmetic that an algorithm's order allows; none for an algorithm that this build does not know.
std::optional<ceiling> arithmetic_of(const std::string& algorithm) {
  for (const registry::algorithm* known : registry::algorithms())
    if (known->name == algorithm) return known->fuses ? ceiling::fma : ceiling::muladd;
  return std::nullopt;
}

/// The roof of the row's type, or of integers of the same width.
const arithmetic_roof* arithmetic_for(const row& r, const device_roofs& roofs) {
  const std::optional<ceiling> kind = arithmetic_of(r.algorithm);
  const auto fits = [&](const arithmetic_roof& a) {
    const bool is_alike = is_integer(r.dtype) && is_integer(a.dtype) && a.dtype.substr(1) == r.dtype.substr(1);
    return a.by == kind && (a.dtype == r.dtype || is_alike);
  };
  const auto found = std::find_if(roofs.arithmetic.begin(), roofs.arithmetic.end(), fits);
  return found == roofs.arithmetic.end() ? nullptr : &*found;
}

/// Whether the row writes like a copy: a third or more of its bytes do not belong to its first input, which the copy
/// moves.
bool moves_like(const row& copy, const row& r) { return r.bytes - copy.bytes / 2 >= r.bytes / 3; }

/// The speed of moving so many bytes, from a copy of another size. A short copy is mostly overhead, which occurs once:
/// bytes beyond the copy's move at the speed of the device's fastest copy.
double speed_beside(const row& copy, double bytes, const device_roofs& roofs) {
  const double own = *speed_of(copy), beyond = bytes - copy.bytes;
  return beyond <= 0 ? own : bytes / (copy.bytes / own + beyond / roofs.fastest_copy);
}

void set_memory(roofline_point& at, const row* copy, const device_roofs& roofs) {
  const double bytes = at.what->bytes;
  if (bytes <= 0) return;
  at.writes_like_copy = copy == nullptr || moves_like(*copy, *at.what);
  if (copy != nullptr && is_in_memory(bytes, roofs) && at.writes_like_copy) {
    at.memory = std::max(*speed_of(*copy), roofs.fastest_beyond_caches);
    at.is_memory_sure = *at.memory > *speed_of(*copy) ? roofs.are_copies_sure : copy->ranked();
    return;
  }
  at.is_memory_sure = copy != nullptr ? copy->ranked() : roofs.are_copies_sure;
  if (copy != nullptr)
    at.memory = speed_beside(*copy, bytes, roofs);
  else if (roofs.readings.empty() && roofs.fastest_copy > 0)
    at.memory = roofs.fastest_copy;
  if (roofs.readings.empty()) return;
  const double read = speed_for(bytes, roofs.readings, roofs.levels);
  if (at.memory && *at.memory >= read) return;
  at.memory = read;
  at.memory_by = ceiling::read;
  at.is_memory_sure = true;  // a level is the median of several readings
}

void set_arithmetic(roofline_point& at, const device_roofs& roofs) {
  const row& r = *at.what;
  if (r.operations <= 0 || unit_of(r.algorithm) == speed_unit::elements || needs_fewer_operations(r)) return;
  if (const arithmetic_roof* roof = arithmetic_for(r, roofs)) {
    at.arithmetic = roof->per_s;
    at.arithmetic_by = roof->by;
    at.is_arithmetic_sure = roof->is_sure;
  }
}

roofline_point point_of(const row& r, const row* copy, const device_roofs& roofs) {
  roofline_point at{
      .of = nullptr, .what = &r, .intensity = r.bytes > 0 ? r.operations / r.bytes : 0, .memory = {}, .arithmetic = {}};
  set_memory(at, copy, roofs);
  set_arithmetic(at, roofs);
  if (!at.arithmetic && !is_bound_by_memory_alone(r)) at.memory.reset();
  at.launch_ns = roofs.launch_ns;
  return at;
}

class roofline_maker {
 public:
  explicit roofline_maker(const model& m) : limits_(m.rows) {
    for (const panel& p : m.panels)
      if (!p.is_of_jobs() && p.mode != "cold")
        for (const board* b : p.processors()) add_points(p, *b);
    for (const row& r : m.rows)  // limits without other rows
      if (r.is_limit() && limits_.of_device(r) != nullptr) line_of(r);
  }

  std::vector<roofline> take() { return std::move(all_); }

 private:
  roofline& line_of(const row& r) {
    const auto [known, is_new] = places_.emplace(place_key_of(r), all_.size());
    if (is_new) {
      all_.push_back({r.machine, std::string(place_of(r)), r.hardware.description, {}, {}});
      if (const device_roofs* roofs = limits_.of_device(r)) all_.back().roofs = *roofs;
    }
    return all_[known->second];
  }

  void add_points(const panel& p, const board& b) {
    for (const std::uint64_t n : b.sizes()) {
      const series* best = b.fastest_shown(role::tilewise, n);
      if (best == nullptr) continue;
      const row& r = *best->at(n);
      roofline& line = line_of(r);
      line.points.push_back(point_of(r, limits_.copy_beside(r), line.roofs));
      line.points.back().of = &p;
    }
  }

  all_roofs limits_;
  std::map<place_key, std::size_t> places_;
  std::vector<roofline> all_;
};

}  // namespace

void hold_against_roofs(row_table& rows) {
  const all_roofs limits(rows);
  for (row& r : rows) {
    const device_roofs* roofs = limits.of_device(r);
    if (roofs == nullptr || r.is_limit() || !r.kernel || !is_held_against_roofs(r)) continue;
    const roofline_point at = point_of(r, limits.copy_beside(r), *roofs);
    if (!at.has_limit()) continue;
    r.fraction = at.share();
    r.bound_by = at.bound_by();
    r.has_sure_limit = at.has_sure_limit();
  }
}

std::optional<double> roofline_point::balance() const {
  return memory && arithmetic ? std::optional(*arithmetic / *memory) : std::nullopt;
}

bool roofline_point::is_memory_bound() const {
  return memory && (!arithmetic || what->bytes / *memory >= what->operations / *arithmetic);
}

double roofline_point::work_ns() const {
  return 1e9 * (is_memory_bound() ? what->bytes / *memory : what->operations / *arithmetic);
}

std::vector<roofline> rooflines(const model& m) { return roofline_maker(m).take(); }

std::vector<const roofline_point*> largest_points(const roofline& of) {
  std::vector<const roofline_point*> all;
  for (const roofline_point& at : of.points) {
    const auto same = [&](const roofline_point* known) {
      return known->what->algorithm == at.what->algorithm && known->what->dtype == at.what->dtype;
    };
    const auto known = std::find_if(all.begin(), all.end(), same);
    if (known == all.end())
      all.push_back(&at);
    else if ((*known)->what->operations < at.what->operations)
      *known = &at;
  }
  return all;
}

namespace {

/// The size of the last-level cache, from the readings or else from the system; 0 if neither has it.
double cache_of(const roofline& of, const row& r) {
  const std::vector<memory_level>& levels = of.roofs.levels;
  if (levels.size() > 1) return levels[levels.size() - 2].to;
  std::uint64_t largest = r.hardware.cache_bytes.value_or(0);
  if (largest == 0 && r.is_cpu)
    for (const record::cache& c : r.on.host.caches) largest = std::max(largest, c.bytes);
  return static_cast<double>(largest);
}

std::string why_faster_than_copy(const roofline& of, const roofline_point& at) {
  constexpr double mostly_its_call = 0.1;  // of the speed of the device's fastest copy
  if (*at.memory < mostly_its_call * of.roofs.fastest_copy) return "the copy of so few bytes is mostly its call";
  const double cache = cache_of(of, *at.what);
  if (at.what->bytes <= cache)
    return "its data fit a cache of " + bytes(cache) + (of.roofs.levels.size() > 1 ? "" : ", as its system tells") +
           ", of which a copy takes twice the room";
  if (!at.writes_like_copy) return "it mostly reads, and its limit is a copy, which writes as much as it reads";
  return cache > 0 ? "it may write less than its limit, a copy, does; or the clock rose meanwhile"
                   : "its data may lie in a cache, of which no size is known; or the clock rose meanwhile";
}

}  // namespace

std::string why_implausible(const roofline& of, const roofline_point& at) {
  if (!at.is_implausible()) return "";
  if (!at.what->plausible) return at.what->doubt();
  if (at.is_launch_bound()) return "it takes less than the launch of a kernel that does nothing took";
  if (at.is_memory_bound())
    return at.memory_by == ceiling::copy
               ? why_faster_than_copy(of, at)
               : "a part of its data may lie in a faster cache than all of it fits, or the clock rose meanwhile";
  return at.what->own_order ? "it may compute on another unit, or with fewer operations than are counted"
                            : "its method may need fewer operations than the definition's, which are counted; or the "
                              "clock rose meanwhile";
}

}  // namespace tilewise::report
