// SPDX-License-Identifier: Apache-2.0
#include "report/compare/noise.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::report {

namespace {

/// Checks the numbers, since a file may contain any.
bool has_interval(const interval& i) {
  return i.low && i.high && *i.low > 0 && *i.low <= i.median && i.median <= *i.high;
}

/// The least effect that the interval allows, as a share: its end that is nearer to 1.
double sure_effect(const interval& ratio) {
  if (!ratio.low) return 0;
  return std::max({0.0, *ratio.low - 1, 1 / *ratio.high - 1});
}

/// The effect that one in some thousands exceeds, from the bound of 95 % of them, if their logarithms are normal.
double rare_beyond(double usual) { return std::expm1(1.8 * std::log1p(usual)); }

void raise(double& largest, double effect) { largest = std::max(largest, effect); }

/// What a map has for a key; 0 if it has nothing.
template <class Map>
double value_at(const Map& values, const typename Map::key_type& key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

bool is_control(const row& r) { return r.peer || r.is_limit(); }

/// How the time of a case changed relative to another one of its group. None if they were not measured in turns.
std::optional<interval> change_beside(const compared_case& c, const compared_case& other) {
  if (&c == &other || !c.ratio || !other.ratio) return std::nullopt;
  const auto before = c.before->in_turns_with(*other.before), after = c.after->in_turns_with(*other.after);
  if (!before || !after) return std::nullopt;
  const interval change = ratio_of(*before, *after);  // of the other's time over the case's
  return change.low ? std::optional(change) : std::nullopt;
}

}  // namespace

interval ratio_of(const interval& after, const interval& before) {
  const double median = after.median / before.median;
  if (!has_interval(after) || !has_interval(before)) return {median, {}, {}};
  const double below = std::hypot(std::log(after.median / *after.low), std::log(*before.high / before.median));
  const double above = std::hypot(std::log(*after.high / after.median), std::log(before.median / *before.low));
  return {median, median * std::exp(-below), median * std::exp(above)};
}

bool is_plausible(const compared_case& c) { return c.before->plausible && c.after->plausible; }

double bound_of(std::vector<double>& effects, double share) {
  if (effects.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(effects.size() + 1));
  const auto bound =
      effects.begin() + static_cast<std::ptrdiff_t>(std::min<double>(rank, static_cast<double>(effects.size()))) - 1;
  std::nth_element(effects.begin(), bound, effects.end());
  return *bound;
}

std::string_view processor_of(const row& r) { return r.is_cpu ? std::string_view("cpu") : r.device; }

control_effects::control_effects(std::span<const compared_case> cases) {
  std::map<std::string_view, std::vector<double>> all;
  for (const compared_case& c : cases) {
    if (!c.ratio || !c.ratio->low || !is_plausible(c)) continue;
    const row& r = *c.after;
    const double effect = sure_effect(*c.ratio);
    if (r.peer) raise(of_group_[{r.group, ""}], effect);
    if (r.is_limit()) raise(of_group_[{r.group, processor_of(r)}], effect);
    if (is_control(r)) all[processor_of(r)].push_back(effect);
  }
  for (auto& [processor, effects] : all) usual_[processor] = bound_of(effects, 0.95);
}

double control_effects::on_processor(const row& r) const { return value_at(usual_, processor_of(r)); }

double control_effects::in_group(const row& r) const {
  return std::max(value_at(of_group_, {r.group, ""}), value_at(of_group_, {r.group, processor_of(r)}));
}

namespace {

double near_rows(const std::vector<std::pair<double, double>>& all, double median, double share) {
  constexpr double about_as_long = 3;
  const auto is_much_shorter = [&](const auto& other) { return !(median < other.first * about_as_long); };
  const auto is_not_much_longer = [&](const auto& other) { return other.first < median * about_as_long; };
  std::vector<double> effects;
  for (auto at = std::partition_point(all.begin(), all.end(), is_much_shorter);
       at != all.end() && is_not_much_longer(*at); ++at)
    effects.push_back(at->second);
  return bound_of(effects, share);
}

}  // namespace

visit_effects::visit_effects(std::span<const compared_case> cases) {
  for (const compared_case& c : cases)
    for (const row* r : {c.before, c.after})
      if (r != nullptr && r->visits_effect && r->kernel)
        seen_[processor_of(*r)].push_back({r->kernel->median, *r->visits_effect});
  for (auto& [processor, visited] : seen_) {
    std::sort(visited.begin(), visited.end());
    std::vector<double> effects;
    for (const auto& [ns, effect] : visited) effects.push_back(effect);
    rare_anywhere_[processor] = bound_of(effects, 0.95);
  }
}

double visit_effects::rare(const compared_case& c) const {
  const std::optional<double> nearby = near(c, 0.95);
  return nearby ? rare_beyond(std::max(*nearby, rare_anywhere_.at(processor_of(*c.after)))) : 0;
}

std::optional<double> visit_effects::near(const compared_case& c, double share) const {
  const auto found = seen_.find(processor_of(*c.after));
  if (found == seen_.end()) return std::nullopt;
  return std::max(near_rows(found->second, c.before->kernel->median, share),
                  near_rows(found->second, c.after->kernel->median, share));
}

relative_times::relative_times(std::span<const compared_case> cases) {
  std::map<std::string_view, cases_of_group> controls;
  for (const compared_case& c : cases) {
    if (!c.ratio || !is_control(*c.after)) continue;
    controls[c.after->group].push_back(&c);
    if (c.after->peer) peers_[c.after->group].push_back(&c);
  }
  std::map<std::string_view, std::vector<double>> all;
  for (const auto& [group, peers] : peers_)
    for (const compared_case* peer : peers)
      for (const compared_case* other : controls[group])
        if (const auto change = change_beside(*peer, *other)) {
          raise(of_peer_[peer], sure_effect(*change));
          if (other->after->peer)
            all[processor_of(*peer->after)].push_back(std::expm1(std::abs(std::log(change->median))));
        }
  for (auto& [processor, effects] : all) usual_[processor] = bound_of(effects, 0.95);
}

std::vector<relative_time> relative_times::of(const compared_case& c) const {
  std::vector<relative_time> all;
  const auto peers = peers_.find(c.after->group);
  if (!c.ratio || is_control(*c.after) || peers == peers_.end()) return all;
  for (const compared_case* peer : peers->second)
    if (const auto change = change_beside(c, *peer))
      all.push_back({.to = peer->after->variant,
                     .ratio = *change,
                     .noise_floor = std::max(value_at(of_peer_, peer), value_at(usual_, processor_of(*peer->after)))});
  std::stable_sort(all.begin(), all.end(), [](const relative_time& a, const relative_time& b) {
    return *a.ratio.high / *a.ratio.low < *b.ratio.high / *b.ratio.low;
  });
  return all;
}

}  // namespace tilewise::report
