// SPDX-License-Identifier: Apache-2.0
#include "report/findings.hpp"

#include "report/format.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

/// Whether equal problems have equal digests. If each digest agreed with its own reference but they differ, the
/// references differ.
bool digests_agree(const model& m) {
  std::map<std::string, std::string> digest_of;
  for (const row& r : m.rows) {
    if (!r.is_ok() || r.own_order || r.is_limit() || r.digest.empty()) continue;
    const std::string key =
        r.algorithm + r.dtype + r.settings + "\n" + r.shape + "\n" + r.data + "\n" + std::to_string(r.seed);
    if (digest_of.emplace(key, r.digest).first->second != r.digest) return false;
  }
  return true;
}

std::string first_wrong(const model& m) {
  const auto found = std::find_if(m.rows.begin(), m.rows.end(), [](const row& r) { return r.wrong(); });
  return found->variant + " on " + found->device + " at " + found->at();
}

}  // namespace

bool any_wrong(const model& m) {
  return std::any_of(m.rows.begin(), m.rows.end(), [](const row& r) { return r.wrong(); }) || !digests_agree(m);
}

std::string bits_finding(const model& m) {
  std::size_t wrong = 0, equal = 0, bounded = 0, beyond = 0;
  std::set<std::string> devices, references;
  for (const row& r : m.rows) {
    if (r.is_limit()) continue;
    wrong += r.wrong();
    if (!r.is_ok() || r.wrong()) continue;
    // Beyond some number of operations the definition takes too long, and another variant's result stands for it.
    (r.own_order ? bounded : record::is_definition(r.reference) ? equal : beyond) += 1;
    if (r.own_order) continue;  // such rows do not appear in the sentence
    devices.insert(r.device);
    if (!record::is_definition(r.reference)) references.insert(r.reference);
  }
  std::string text;
  if (wrong > 0)
    text = count(wrong) + " of " + count(wrong + equal + beyond + bounded) + " results are WRONG, the first from " +
           first_wrong(m) + "; their times are not shown.";
  else if (equal + beyond == 0)
    text = "No result of code that keeps the fixed order of operations was measured.";
  else if (!digests_agree(m))
    text = "The results do NOT have the same bits: equal problems have different digests.";
  else
    text = "All " + count(equal) + " results of code that keeps the fixed order of operations have the same bits, on " +
           count(devices.size()) + (devices.size() == 1 ? " device." : " devices.");
  if (wrong == 0 && beyond > 0 && digests_agree(m))
    text += " " + count(beyond) + " more, too large for the definition, have the bits of " +
            listed({references.begin(), references.end()}, 3) + ".";
  if (bounded > 0) text += " " + count(bounded) + " results of code with an order of its own are within their bounds.";
  return text;
}

std::string why_untimed(const row& r) {
  if (r.status == record::status::interrupted) return "the run was interrupted";
  if (!r.reason.empty()) return r.reason;
  if (r.is_ok()) return "its time is not a number above 0";
  return r.status == record::status::timeout ? "it did not finish in time" : std::string(name_of(r.status));
}

std::vector<std::string> change_findings(const model& m) {
  std::map<std::string, const row*> largest;
  for (const row& r : m.rows) {
    if (!r.is_ok() || r.changed.value_or(0) == 0) continue;
    const row*& known = largest[r.variant + " " + r.dtype];
    if (!known || r.n >= known->n) known = &r;
  }
  constexpr std::size_t most_told = 100;
  std::vector<std::string> findings;
  for (const auto& [who, r] : largest) {
    if (findings.size() == most_told) {
      findings.push_back("So do two runs of " + count(largest.size() - most_told) + " more variants.");
      break;
    }
    findings.push_back("Two runs of " + short_name(r->variant) + " (" + r->algorithm + " " + r->dtype +
                       ") on the same input differ in " + count(*r->changed) +
                       (*r->changed == 1 ? " output at " : " outputs at ") + r->at() + ".");
  }
  return findings;
}

std::string cache_sizes(const record::host& of) {
  constexpr std::size_t most_levels = 5;
  std::vector<std::string> sizes;
  for (const record::cache& c : of.caches) sizes.push_back(bytes(static_cast<double>(c.bytes)));
  return listed(sizes, most_levels);
}

namespace {

/// For each machine: "3 of its 40 records come from a build with uncommitted changes". The page's last section shows
/// only the build of the first record.
std::map<std::string_view, std::string> uncommitted_builds(const model& m) {
  std::map<std::string_view, std::pair<std::size_t, std::size_t>> counts;
  for (const row& r : m.rows) {
    auto& [dirty, all] = counts[r.machine];
    dirty += r.is_dirty;
    ++all;
  }
  std::map<std::string_view, std::string> told;
  for (const auto& [machine, of] : counts)
    told[machine] = (of.first == of.second ? "all" : count(of.first) + " of its " + count(of.second)) +
                    " records come from a build with uncommitted changes";
  return told;
}

}  // namespace

std::vector<std::string> machine_notes(const model& m) {
  std::vector<std::string> notes;
  std::set<std::string> told;
  const std::map<std::string_view, std::string> uncommitted = uncommitted_builds(m);
  for (const row& r : m.rows) {
    const auto add = [&](const std::string& text) {
      const std::string whole = (r.machine.empty() ? "The machine" : r.machine) + text;
      if (told.insert(whole).second) notes.push_back(whole);
    };
    if (!r.governor.empty() && r.governor != "performance")
      add(" ran under the clock governor '" + r.governor + "'; times may vary with the clock.");
    if (r.is_busy) add(" was busy when a case began: its load was over a quarter of its processors.");
    if (r.is_dirty) add(": " + uncommitted.at(r.machine) + ".");
    if (!r.build_type.empty() && r.build_type != "Release")
      add(" measured a " + r.build_type + " build; only the speeds of Release builds mean anything.");
  }
  return notes;
}

std::string ratio_text(const interval& value) {
  if (!value.low || !value.high) return factor(value.median);
  return factor(value.median) + " (" + factor(*value.low) + " to " + factor(*value.high) + ")";
}

std::optional<ratio> ratio_to(const row& r, const std::string& variant) {
  for (const ratio& q : r.ratios)
    if (q.to == variant) return q;
  return std::nullopt;
}

namespace {

/// The sizes from `first` to `last` at which one variant is the fastest of those that were measured.
struct lead {
  std::string variant;
  std::uint64_t first, last;
};

bool was_timed(const board& b, const std::string& variant, std::uint64_t n) {
  return std::any_of(b.all.begin(), b.all.end(), [&](const series& s) {
    const row* r = s.variant == variant ? s.at(n) : nullptr;
    return r != nullptr && r->timed();
  });
}

/// Variants that lead elsewhere and have no time here: " (cpu:ntt has no time there)".
std::string rivals_not_measured(const board& b, const lead& at, const std::vector<lead>& leads) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> at_none, at_some;
  std::set<std::string> seen{at.variant};
  for (const lead& rival : leads) {
    if (!seen.insert(rival.variant).second) continue;
    std::size_t sizes = 0, timed = 0;
    for (const std::uint64_t n : b.sizes())
      if (n >= at.first && n <= at.last) ++sizes, timed += was_timed(b, rival.variant, n);
    if (timed < sizes) (timed == 0 ? at_none : at_some).push_back(short_name(rival.variant));
  }
  std::string text;
  if (!at_none.empty())
    text = listed(at_none, most_named) + (at_none.size() == 1 ? " has" : " have") + " no time there";
  if (!at_some.empty())
    text += (text.empty() ? "" : ", ") + listed(at_some, most_named) + (at_some.size() == 1 ? " has" : " have") +
            " a time only at some of these";
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string crossings(const board& b) {
  constexpr std::size_t most_leads = 20;  // a sentence cannot hold more
  std::vector<lead> leads;
  for (const std::uint64_t n : b.sizes()) {
    const series* best = b.fastest(role::tilewise, n);
    if (!best) continue;
    if (leads.empty() || leads.back().variant != best->variant) leads.push_back({best->variant, n, n});
    leads.back().last = n;
  }
  if (leads.size() < 2) return "";
  std::string text = short_name(leads.front().variant) + " is the fastest up to " + b.size_at(leads.front().last) +
                     rivals_not_measured(b, leads.front(), leads);
  for (std::size_t i = 1; i < leads.size(); ++i) {
    if (i == most_leads) return text + ", and then " + count(leads.size() - i) + " others in turn.";
    const lead& l = leads[i];
    const bool goes_on = i + 1 == leads.size();
    text += ", " + short_name(l.variant) + (l.first == l.last && !goes_on ? " at " : " from ") + b.size_at(l.first);
    text += goes_on ? " on" : l.first == l.last ? "" : " to " + b.size_at(l.last);
    text += rivals_not_measured(b, l, leads);
  }
  return text + ".";
}

std::string_view bound_word(record::ceiling by) {
  if (by == record::ceiling::launch) return "launch";
  return record::is_arithmetic(by) ? "arithmetic" : "memory";
}

std::string limit_words(const row& r) {
  if (r.mode == "file_to_file") return "the same files moved alone";
  if (r.mode == "host_to_host") return "the same bytes moved alone";
  if (r.bound_by == record::ceiling::read) return "the device’s reading";
  if (r.bound_by == record::ceiling::launch) return "a kernel that does nothing";
  return r.bound_by && record::is_arithmetic(*r.bound_by) ? "the device’s multiply-adds" : "the device’s copy";
}

bool does_less_than_counted(const row& r) {
  return r.plausible && r.bound_by && record::is_arithmetic(*r.bound_by) && r.fraction.value_or(0) > 1.05;
}

bool is_above_unsure_limit(const row& r) { return !r.has_sure_limit && r.fraction.value_or(0) > 1.05; }
bool shows_share(const row& r) { return r.fraction && !is_above_unsure_limit(r); }

std::optional<double> speed_at_limit(const row& r, speed_unit unit) {
  const std::optional<double> speed = r.throughput(unit);
  if (!speed || r.fraction.value_or(0) <= 0 || does_less_than_counted(r)) return std::nullopt;
  return *speed / *r.fraction;
}

std::string marked_time(const row& r) { return marked(r.ranked(), duration(r.kernel->median)); }

std::string share_text(const row& r) {
  return marked(r.has_sure_limit, *r.fraction < 0.01 ? "< 1 %" : percent(*r.fraction));
}

std::vector<std::string> travel_findings(const panel& p) {
  std::vector<std::string> told;
  for (const board& b : p.boards) {
    const series* best = b.fastest_shown(role::tilewise, b.largest_size());
    const row* r = best ? best->at(b.largest_size()) : nullptr;
    if (r == nullptr || r->ranks == nullptr || !r->ranks->sent_bytes || r->ranks->number < 2) continue;
    const record::ranks& between = *r->ranks;
    std::string& text = told.emplace_back(
        short_name(r->variant) + " on " + b.name + " at " + r->at() + ": " + count(between.number) + " ranks (" +
        clipped(between.transport, page_limits::name) + ") sent " + bytes(static_cast<double>(*between.sent_bytes)) +
        " in " + count(between.exchanges.value_or(0)) + (between.exchanges == 1 ? " exchange" : " exchanges"));
    if (b.computes_on_cpu && between.exchange_ns && *between.exchange_ns >= 0)  // unknown for GPUs
      text += ", which took " + duration(*between.exchange_ns) + " beside a call of " + duration(r->kernel->median);
    text += ".";
  }
  return told;
}

std::vector<const row*> best_trips(const board& b) {
  const auto total = [](const row& r) { return r.h2d->median + r.kernel->median + r.d2h->median; };
  std::vector<const row*> best;
  for (const std::uint64_t n : b.sizes()) {
    const row* shortest = nullptr;
    for (const series& s : b.all) {
      const row* r = s.kind == role::tilewise && s.competes() ? s.at(n) : nullptr;
      if (r && r->ranked() && r->h2d && r->d2h && (!shortest || total(*r) < total(*shortest))) shortest = r;
    }
    if (shortest) best.push_back(shortest);
  }
  return best;
}

namespace {

const row* shorter_of(const series* ours, const series* serial, std::uint64_t n) {
  if (!ours || !serial) return ours ? ours->at(n) : serial ? serial->at(n) : nullptr;
  return ours->at(n)->kernel->median <= serial->at(n)->kernel->median ? ours->at(n) : serial->at(n);
}

}  // namespace

const row* best_on_cpu(const panel& p, std::uint64_t n) {
  const board* cpu = p.cpu();
  if (!cpu) return nullptr;
  const row* best = shorter_of(cpu->fastest(role::tilewise, n), cpu->fastest(role::serial, n), n);
  const row* shortest = shorter_of(cpu->fastest_of_all(role::tilewise, n), cpu->fastest_of_all(role::serial, n), n);
  return best != nullptr && best != shortest && shortest->is_surely_shorter(*best) ? nullptr : best;
}

std::string break_even(const panel& p, const board& b) {
  const row* wins_from = nullptr;
  const row* largest = nullptr;
  for (const row* r : best_trips(b)) {
    const row* cpu = r->round_trip && r->round_trip->is_narrow() ? best_on_cpu(p, r->n) : nullptr;
    if (!cpu) continue;
    largest = r;
    const bool wins = r->round_trip->median < cpu->kernel->median;
    if (!wins) wins_from = nullptr;
    if (wins && !wins_from) wins_from = r;
  }
  if (!largest) return "";
  if (!wins_from)
    return "With its transfers " + b.name + " does not win at any size whose times can be trusted, up to " +
           largest->at() + ".";
  return "With its transfers " + b.name + " wins from " + wins_from->at() + " on.";
}

}  // namespace tilewise::report
