// SPDX-License-Identifier: Apache-2.0
// Other people's code beside ours: the best of each at the largest size, and every ratio from interleaved rounds.
#include "report/compare/comparison.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"
#include "report/standing/standing.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using cells = std::vector<html>;

/// A copy may move other bytes, and multiply-adds are the same at every size: shares of limits are told elsewhere.
bool is_of_a_limit(const ratio& q) {
  return record::word_of<record::ceiling>(q.to.substr(0, q.to.find('/'))).has_value();
}

/// The series that a ratio compares with; null if it ran on another processor.
const series* other_of(const ratio& q, const board& b) {
  const auto found = std::find_if(b.all.begin(), b.all.end(), [&](const series& s) {
    return s.variant == q.to && (s.device == q.device || s.kind != role::tilewise);
  });
  return found == b.all.end() ? nullptr : &*found;
}
/// The usual name of the other row, with the processor if that is another one.
std::string compared_with(const ratio& q, const board& b) {
  if (const series* other = other_of(q, b)) return other->label;
  return short_name(q.to) + (q.device.empty() || q.device == b.name ? "" : " on " + q.device);
}

/// Our fastest at the largest size that any peer has, compared with each peer there.
void add_peers(const board& b, std::vector<cells>& lines) {
  const standing s = standing_at(b, largest_with_peer(b));
  if (!s.ours) return;
  for (const series& other : b.all) {
    const row* peer = other.kind == role::peer ? other.at(s.ours->n) : nullptr;
    if (!peer || !peer->timed()) continue;
    const standing against = standing_against(*s.ours, *peer);
    const std::string told = !other.competes()
                                 ? "not compared: it rounds its operands to fewer bits"
                                 : words_of(against.position) + (against.why.empty() ? "" : ": " + against.why);
    lines.push_back({html::text(other.label), html::text(b.name), html::text(s.ours->size()),
                     html::text(marked_time(*peer)), html::text(s.ours->name() + ", " + marked_time(*s.ours)),
                     html::text(marked(against.has_sure_speed, ratio_text(*against.speed))), html::text(told)});
  }
}

/// Load on the machine slows both of a pair alike, so a time in doubt does not spoil their ratio; one that cannot be
/// true does.
std::string judgement(const ratio& q, const row& r, const board& b) {
  const series* other = other_of(q, b);
  const row* at = other ? other->at(r.n) : nullptr;
  if (at && !at->plausible) return "unclear: " + other->label + " " + at->doubt();
  return std::string(name_of(judged_in_turns(q.value, r.smallest_effect())));
}

/// The ratios of all pairs would be half of a page; those of our slower variants to each other are in the records.
void add_ratios(const board& b, std::vector<cells>& lines) {
  for (const std::uint64_t n : b.sizes()) {
    const row* ours = standing_at(b, n).ours;
    if (!ours || !ours->plausible) continue;
    for (const ratio& q : ours->ratios)
      if (!is_of_a_limit(q))
        lines.push_back({html::text(ours->name()), html::text(compared_with(q, b)), html::text(b.name),
                         html::text(ours->size()), html::text(ratio_text(q.value)),
                         html::text(judgement(q, *ours, b))});
  }
}

}  // namespace

html peer_section(const panel& p) {
  std::vector<cells> peers, ratios;
  for (const board& b : p.boards) {
    add_peers(b, peers);
    add_ratios(b, ratios);
  }
  html section;
  if (!peers.empty())
    section += tag("h4", "The peers") +
               table(
                   "Our fastest variant against other people’s code, at the largest size. Above 1 ours is faster. The "
                   "ratio is that of rounds in which both ran alternately, where there are any; a quotient of the "
                   "two times, which are medians of all rounds, may differ from it.",
                   {"peer", "processor", "n", "its time", "ours", "speed ratio", "ours is"}, peers, content::words);
  if (!ratios.empty())
    section += folded(
        count(ratios.size()) + " ratios from interleaved rounds",
        table(
            "Our fastest variant at each size and another row, which ran alternately in one process, A B B A. Above 1, "
            "the first is faster; the 95 % interval is in brackets. Within ± 5 % both are the same, unless all of it "
            "lies beyond the machine’s noise floor; else its side of 1 decides.",
            {"variant", "against", "processor", "n", "speed ratio", "verdict"}, ratios, content::words));
  return section;
}

}  // namespace tilewise::report
