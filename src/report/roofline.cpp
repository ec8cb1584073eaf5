// SPDX-License-Identifier: Apache-2.0
#include "report/roofline.hpp"

#include <tilewise/types.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewise::report {

namespace {

using record::ceiling;

ceiling ceiling_of(const row& limit) { return *record::word_of<ceiling>(limit.algorithm); }

/// In operations or bytes; none if it did nothing.
std::optional<double> speed_of(const row& limit) {
  const auto speed = limit.is_arithmetic() ? limit.operations_per_s : limit.bytes_per_s;
  return limit.timed() && speed.value_or(0) > 0 ? speed : std::nullopt;
}

/// All CPU executors are one processor.
std::string_view place_of(const row& r) { return r.is_cpu ? std::string_view("cpu") : r.device; }

void add_speed(std::vector<reading>& to, const row& limit) {
  const double bytes = ceiling_of(limit) == ceiling::read ? static_cast<double>(limit.n) : limit.bytes;
  if (bytes > 0) to.push_back({bytes, *speed_of(limit)});
}

/// Measured with many problems, it is the median.
class roof_collector {
 public:
  void add(const row& limit) {
    switch (ceiling_of(limit)) {
      case ceiling::read: return add_speed(roofs_.readings, limit);
      case ceiling::copy: return add_speed(roofs_.copies, limit);
      case ceiling::launch: return add_launch(1e9 * limit.bytes / *speed_of(limit));
      default: arithmetic_[{limit.dtype, ceiling_of(limit)}].push_back(*speed_of(limit));
    }
  }
  device_roofs take() {
    for (auto* speeds : {&roofs_.readings, &roofs_.copies})
      std::stable_sort(speeds->begin(), speeds->end(),
                       [](const reading& a, const reading& b) { return a.bytes < b.bytes; });
    roofs_.levels = levels_of(roofs_.readings);
    for (auto& [of, speeds] : arithmetic_) {
      const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
      std::nth_element(speeds.begin(), middle, speeds.end());
      roofs_.arithmetic.push_back({of.first, of.second, *middle});
    }
    return std::move(roofs_);
  }

 private:
  void add_launch(double ns) {
    if (ns > 0) roofs_.launch_ns = std::min(ns, roofs_.launch_ns.value_or(ns));
  }

  device_roofs roofs_;
  std::map<std::pair<std::string_view, ceiling>, std::vector<double>> arithmetic_;
};

/// What was measured alternately with a problem.
struct own_roofs {
  const row *copy = nullptr, *arithmetic = nullptr;
};

using place_key = std::pair<std::string_view, std::string_view>;  // machine, processor
using group_key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

group_key own_key(const row& r) { return {r.machine, place_of(r), r.group, r.asked_data}; }

struct all_roofs {
  std::map<place_key, roof_collector> of_device;
  std::map<group_key, own_roofs> of_group;

  explicit all_roofs(const row_table& rows) {
    for (const row& r : rows) {
      if (!r.is_limit() || is_job(r.mode) || !speed_of(r)) continue;
      of_device[{r.machine, place_of(r)}].add(r);
      own_roofs& own = of_group[own_key(r)];
      if (r.is_arithmetic()) own.arithmetic = &r;
      if (ceiling_of(r) == ceiling::copy) own.copy = &r;
    }
  }
};

bool is_integer(std::string_view type) { return type.starts_with('i') || type.starts_with('u'); }

/// Of the type, or of integers of its width; what rounds product and sum each before what fuses them.
const arithmetic_roof* arithmetic_for(std::string_view type, const device_roofs& roofs) {
  const arithmetic_roof* found = nullptr;
  for (const arithmetic_roof& a : roofs.arithmetic) {
    const bool fits =
        a.dtype == type || (is_integer(type) && is_integer(a.dtype) && a.dtype.substr(1) == type.substr(1));
    if (fits && (found == nullptr || a.by == ceiling::muladd)) found = &a;
  }
  return found;
}

const reading* nearest(const std::vector<reading>& by_size, double bytes) {
  const reading* best = nullptr;
  const auto distance = [&](const reading& r) { return std::abs(std::log(r.bytes / bytes)); };
  for (const reading& r : by_size)
    if (best == nullptr || distance(r) < distance(*best)) best = &r;
  return best;
}

/// Beyond all caches, and known to be.
bool is_in_memory(double bytes, const device_roofs& roofs) {
  return roofs.levels.size() > 1 && bytes >= roofs.levels.back().from;
}

/// Whether a third or more of its bytes are none of its first input, of which the copy is: it writes, like a copy.
bool moves_like(const row& copy, const row& r) { return r.bytes - copy.bytes / 2 >= r.bytes / 3; }

/// The fastest copy that no cache holds.
double copy_in_memory(const own_roofs& own, const device_roofs& roofs) {
  double most = *speed_of(*own.copy);
  for (const reading& copy : roofs.copies)
    if (is_in_memory(copy.bytes, roofs)) most = std::max(most, copy.bytes_per_s);
  return most;
}

void set_memory(roofline_point& at, const own_roofs& own, const device_roofs& roofs) {
  const double bytes = at.what->bytes;
  if (bytes <= 0) return;
  if (own.copy != nullptr && is_in_memory(bytes, roofs) && moves_like(*own.copy, *at.what)) {
    at.memory = copy_in_memory(own, roofs);
    return;
  }
  if (own.copy != nullptr) at.memory = speed_of(*own.copy);
  if (!at.memory && roofs.readings.empty())
    if (const reading* copy = nearest(roofs.copies, bytes)) at.memory = copy->bytes_per_s;
  if (roofs.readings.empty()) return;
  const double read = speed_for(bytes, roofs.readings, roofs.levels);
  if (at.memory && *at.memory >= read) return;
  at.memory = read;
  at.memory_by = ceiling::read;
}

void set_arithmetic(roofline_point& at, const own_roofs& own, const device_roofs& roofs, speed_unit unit) {
  if (at.what->operations <= 0 || unit == speed_unit::elements) return;
  if (own.arithmetic != nullptr) {
    at.arithmetic = speed_of(*own.arithmetic);
    at.arithmetic_by = ceiling_of(*own.arithmetic);
  } else if (const arithmetic_roof* roof = arithmetic_for(at.what->dtype, roofs)) {
    at.arithmetic = roof->per_s;
    at.arithmetic_by = roof->by;
  }
}

class roofline_maker {
 public:
  explicit roofline_maker(const model& m) : limits_(m.rows) {
    for (const panel& p : m.panels)
      if (!p.is_of_jobs() && p.mode != "cold")
        for (const board* b : p.processors()) add_points(p, *b);
    for (const row& r : m.rows)  // limits without anything beside them
      if (r.is_limit() && limits_.of_device.contains({r.machine, place_of(r)})) line_of(r);
  }

  std::vector<roofline> take() { return std::move(all_); }

 private:
  roofline& line_of(const row& r) {
    const place_key key{r.machine, place_of(r)};
    const auto [known, is_new] = places_.emplace(key, all_.size());
    if (is_new) {
      all_.push_back({r.machine, std::string(place_of(r)), r.hardware.description, {}, {}});
      if (const auto found = limits_.of_device.find(key); found != limits_.of_device.end())
        all_.back().roofs = found->second.take();
    }
    return all_[known->second];
  }

  void add_points(const panel& p, const board& b) {
    for (const std::uint64_t n : b.sizes()) {
      const series* best = b.fastest_shown(role::tilewise, n);
      if (best == nullptr) continue;
      const row& r = *best->at(n);
      roofline& line = line_of(r);
      roofline_point at{
          .of = &p, .what = &r, .intensity = r.bytes > 0 ? r.operations / r.bytes : 0, .memory = {}, .arithmetic = {}};
      const own_roofs own = limits_.of_group[own_key(r)];
      set_memory(at, own, line.roofs);
      set_arithmetic(at, own, line.roofs, unit_of(p.algorithm));
      at.launch_ns = line.roofs.launch_ns;
      line.points.push_back(at);
    }
  }

  all_roofs limits_;
  std::map<place_key, std::size_t> places_;
  std::vector<roofline> all_;
};

}  // namespace

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

std::string why_implausible(const roofline& of, const roofline_point& at) {
  if (!at.is_implausible()) return "";
  if (!at.what->plausible) return at.what->doubt();
  if (at.is_launch_bound()) return "it takes less than the launch of a kernel that does nothing took";
  if (at.is_memory_bound())
    return of.roofs.readings.empty()
               ? "its data may lie in a cache, whose speed was not measured: a copy so short is mostly its call"
               : "its data may lie in a faster cache than all of it fits, or the clock rose meanwhile";
  return at.what->own_order ? "it may compute on another unit, or with fewer operations than are counted"
                            : "its method may need fewer operations than the definition's, which are counted, as "
                              "Karatsuba's and transforms do; or the clock rose meanwhile";
}

}  // namespace tilewise::report
