// SPDX-License-Identifier: Apache-2.0
#include "report/standing/standing.hpp"

#include "report/compare/comparison.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <array>

namespace tilewise::report {

namespace {

struct position_words {
  const char *words, *style;
};
constexpr std::array<position_words, 7> all_positions{{{"ahead", "ahead"},
                                                       {"on a par", "par"},
                                                       {"behind", "behind"},
                                                       {"too close to say", "unclear"},
                                                       {"no peer", "alone"},
                                                       {"too noisy to say", "doubt"},
                                                       {"not measured", "none"}}};

const position_words& about(position p) { return all_positions[static_cast<std::size_t>(p)]; }

position position_of(verdict is) {
  switch (is) {
    case verdict::faster: return position::ahead;
    case verdict::slower: return position::behind;
    case verdict::same: return position::on_a_par;
    default: return position::unclear;
  }
}

/// By how much ours is ahead at least, if it surely is, though a time is in doubt. A peer may be so slow that few of
/// its calls were measured, and has no interval.
std::optional<double> least_lead(const row& ours, const row& peer) {
  if (!ours.plausible || !peer.plausible || !ours.kernel->high) return std::nullopt;
  const double least = least_ratio(*ours.kernel, *peer.kernel);
  return least > 1 + ours.smallest_effect() ? std::optional(least) : std::nullopt;
}

/// See standing::has_sure_speed.
bool is_sure(const interval& speed, const row& ours, const row& peer) {
  const bool is_on_one_side = (speed.low && *speed.low > 1) || (speed.high && *speed.high < 1);
  if (!ours.plausible || !peer.plausible) return false;
  return speed.is_narrow() || (ours.ranked() && peer.ranked()) || (ours.in_turns_with(peer) && is_on_one_side);
}

/// What the two ran in turns decides. Without that, where a time is in doubt the only verdict can be that ours is
/// ahead.
void judge(standing& s) {
  const bool in_turns = s.ours->in_turns_with(*s.peer).has_value();
  const bool is_judged = in_turns || (s.ours->ranked() && s.peer->ranked());
  s.position = position_of((in_turns ? judged_in_turns : judged)(*s.speed, s.ours->smallest_effect()));
  s.has_sure_speed = is_sure(*s.speed, *s.ours, *s.peer);
  if (!is_judged) {
    s.why = s.ours->ranked() ? "the peer: " + s.peer->doubt() : s.ours->doubt();
    s.at_least = least_lead(*s.ours, *s.peer);
    s.position = s.at_least ? position::ahead : position::in_doubt;
  } else if (s.position == position::unclear) {
    const auto told = [](double ratio) { return significant(ratio, 4); };  // 3 digits may show both ends as 1.01
    if (!s.speed->low || !s.speed->high) {
      s.why = "the ratio has no interval";
      return;
    }
    s.why = "between " + told(*s.speed->low) + " and " + told(*s.speed->high);
    if (*s.speed->low > 1 || *s.speed->high < 1)  // otherwise the ends alone would say who is ahead
      s.why += ", with a noise floor of ± " + percent(s.ours->smallest_effect());
  }
}

/// The peer that is fastest beside ours.
const row* rival_of(const board& b, const row& ours) {
  const row* best = nullptr;
  for (const series& s : b.all) {
    const row* r = s.kind == role::peer && s.competes() ? s.at(ours.n) : nullptr;
    if (r && r->timed() && (!best || speed_against(ours, *r)->median < speed_against(ours, *best)->median)) best = r;
  }
  return best;
}

/// The peer with rounded operands that is farthest ahead at that size, or null.
const row* ahead_by_rounding(const board& b, const row& ours) {
  const row* best = nullptr;
  for (const series& s : b.all) {
    const row* r = s.kind == role::peer && !s.competes() ? s.at(ours.n) : nullptr;
    if (r && r->ranked() && standing_against(ours, *r).position == position::behind &&
        (!best || r->kernel->median < best->kernel->median))
      best = r;
  }
  return best;
}

}  // namespace

const char* words_of(position p) { return about(p).words; }
const char* style_of(position p) { return about(p).style; }

std::optional<interval> speed_against(const row& ours, const row& peer) {
  if (const auto by_turns = ours.in_turns_with(peer)) return by_turns;
  if (const auto few = ratio_to(ours, peer.variant)) return few->value;
  if (!ours.timed() || !peer.timed()) return std::nullopt;
  const interval &mine = *ours.kernel, &theirs = *peer.kernel;
  interval speed{theirs.median / mine.median, {}, {}};
  if (mine.low && mine.high && theirs.low && theirs.high && *mine.low > 0)
    speed.low = *theirs.low / *mine.high, speed.high = *theirs.high / *mine.low;
  return speed;
}

standing standing_at(const board& b, std::uint64_t n) {
  const series *best = b.fastest(role::tilewise, n), *shortest = b.fastest_of_all(role::tilewise, n);
  if (!shortest) return {};
  standing s{.ours = (best ? best : shortest)->at(n), .why = ""};
  s.peer = rival_of(b, *s.ours);
  s.position = position::no_peer;
  s.why = s.ours->doubt();
  if (best && best != shortest)
    s.why = shortest->label + " takes " + duration(shortest->at(n)->kernel->median) + ", " + shortest->at(n)->doubt();
  if (s.ours->ranked()) s.rounding = ahead_by_rounding(b, *s.ours);
  if (!s.peer) return s;
  s.speed = speed_against(*s.ours, *s.peer);
  judge(s);
  return s;
}

standing standing_against(const row& ours, const row& peer) {
  standing s{.ours = &ours, .peer = &peer, .speed = speed_against(ours, peer), .why = ""};
  judge(s);
  return s;
}

std::string speed_text(const standing& s) {
  if (s.at_least) return "≥ " + factor(*s.at_least);
  return marked(s.has_sure_speed, factor(s.speed->median));
}

std::string rounding_words(const standing& s) {
  return factor(speed_against(*s.ours, *s.rounding)->median) + " × " + short_name(s.rounding->variant);
}

std::uint64_t largest_with_peer(const board& b) {
  const std::vector<std::uint64_t> sizes = b.sizes();
  const auto found = std::find_if(sizes.rbegin(), sizes.rend(), [&](std::uint64_t n) {
    return b.fastest_of_all(role::tilewise, n) != nullptr && b.fastest_of_all(role::peer, n) != nullptr;
  });
  return found == sizes.rend() ? 0 : *found;
}

standing largest_trusted(const board& b) {
  const std::uint64_t largest = b.largest_size();
  const std::vector<std::uint64_t> sizes = b.sizes();
  for (auto n = sizes.rbegin(); n != sizes.rend() && *n >= largest / 16; ++n)
    if (const standing s = standing_at(b, *n); s.ours && s.position != position::in_doubt)
      if (s.ours->ranked() || s.position != position::no_peer) return s;
  return {};
}

standing standing_of(const board& b) {
  standing s = standing_at(b, b.largest_size());
  const std::uint64_t n = s.position == position::no_peer ? largest_with_peer(b) : 0;
  if (n == 0) return s;
  const standing smaller = standing_at(b, n);
  s.peer = smaller.peer;
  s.speed = smaller.speed;
  s.has_sure_speed = smaller.has_sure_speed;
  s.at_least = smaller.at_least;
  s.position = smaller.position;
  s.why = "the peer at " + smaller.peer->at() + (smaller.why.empty() ? "" : "; " + smaller.why);
  return s;
}

}  // namespace tilewise::report
