// SPDX-License-Identifier: Apache-2.0
#include "report/seeds/seeds.hpp"

#include "record/published.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

bool is_of_device(const row& r) { return !r.is_cpu && r.ranks == nullptr; }

const row* fastest_on(const document_problem& p, const std::string& device, bool with_transfers) {
  const row* best = nullptr;
  for (const row* r : p.rows)
    if (may_be_fastest(*r) && r->ranks == nullptr && (device == "cpu" ? r->is_cpu : r->device == device))
      best = faster(best, r, with_transfers);
  return best;
}

std::vector<std::string> devices_of(const document_study& s) {
  std::vector<std::string> names;
  for (const document_problem& p : s.sizes)
    for (const row* r : p.rows)
      if (is_of_device(*r) && std::find(names.begin(), names.end(), r->device) == names.end())
        names.push_back(r->device);
  return names;
}

bool is_processor(const document_study& s, const std::string& device) {
  for (const document_problem& p : s.sizes)
    for (const row* r : p.rows)
      if (r->device == device) return r->hardware.is_cpu;
  return false;
}

/// The device's name, with a remark if it is not a GPU.
std::string kind_of(const document_study& s, const std::string& device) {
  return clipped(device, page_limits::name) +
         (is_processor(s, device) ? ", which is this machine’s processor and no GPU," : "");
}

/// "one core or threads", "ranks", "opencl:0 (the processor)"
std::string name_of_kind(const document_study& s, const std::string& kind) {
  if (kind == "threads") return "one core or threads";
  return clipped(kind, page_limits::name) + (kind != "ranks" && is_processor(s, kind) ? " (the processor)" : "");
}

struct win {
  bool is_won, is_in_doubt;
};
using wins_at = std::vector<std::optional<win>>;  // by size

/// A time without an interval is assumed to be off by up to a factor of 2.
bool ends_before(const interval& x, const interval& y) { return x.high && *x.high < y.low.value_or(y.median / 2); }

/// Whether a device is faster than the CPU at each size; nothing where one of them has no time.
wins_at wins_of(const document_study& s, const std::string& device, bool with_transfers) {
  wins_at wins;
  for (const document_problem& p : s.sizes) {
    const row* ours = fastest_on(p, device, with_transfers);
    const row* cpu = fastest_on(p, "cpu", false);
    const interval* time = ours ? counted_time(*ours, with_transfers) : nullptr;
    if (!time || !cpu)
      wins.emplace_back();
    else
      wins.emplace_back(win{time->median < cpu->kernel->median,
                            !ends_before(*time, *cpu->kernel) && !ends_before(*cpu->kernel, *time)});
  }
  return wins;
}

/// "from 4,096 on", "at no size", "at 512".
std::string where(const document_study& s, const wins_at& wins) {
  std::vector<std::string> at;
  std::size_t known = 0;
  std::optional<std::size_t> since;
  for (std::size_t i = 0; i < wins.size(); ++i) {
    if (!wins[i]) continue;
    ++known;
    if (wins[i]->is_won) at.push_back(s.sizes[i].rows.front()->size());
    if (!wins[i]->is_won) since.reset();
    if (wins[i]->is_won && !since) since = i;
  }
  if (at.empty()) return known == 0 ? "" : "at no size that was measured";
  if (at.size() == known) return "at every size that was measured";
  const bool is_from_there =
      since && std::count_if(wins.begin() + static_cast<std::ptrdiff_t>(*since), wins.end(),
                             [](const auto& w) { return w && w->is_won; }) == static_cast<std::ptrdiff_t>(at.size());
  return is_from_there ? "from " + s.sizes[*since].rows.front()->size() + " on" : "at " + listed(at, 6);
}

/// Names sizes at which the two intervals overlap, so that the medians decide nothing: " (in doubt at 4,096)".
std::string doubt_of(const document_study& s, const wins_at& wins) {
  std::vector<std::string> at;
  for (std::size_t i = 0; i < wins.size(); ++i)
    if (wins[i] && wins[i]->is_in_doubt) at.push_back(s.sizes[i].rows.front()->size());
  return at.empty() ? "" : " (in doubt at " + listed(at, 6) + ")";
}

html time_cell(const row* r, bool with_transfers) {
  const interval* time = r ? counted_time(*r, with_transfers) : nullptr;
  if (!time) return "–";
  return html::text(marked(is_counted_sure(*r, with_transfers), duration(time->median))) +
         tag("small", html::text(" " + short_name(r->variant) + (r->is_cpu ? " @" + place_of(*r) : "")));
}

/// Answers: when is the GPU faster, with transfers and without?
html when_a_device_wins(const document_study& s) {
  const std::vector<std::string> devices = devices_of(s);
  if (devices.empty()) return {};
  html sentences;
  std::vector<std::string> heads{"size", "fastest on the CPU"};
  for (const std::string& device : devices) {
    const wins_at without = wins_of(s, device, false), with = wins_of(s, device, true);
    const std::string alone = where(s, without), all = where(s, with);
    if (alone.empty()) continue;
    sentences += tag(
        "li", html::sentence(kind_of(s, device) + " is faster than the CPU " + alone + doubt_of(s, without) +
                             (all.empty() ? "" : "; with its transfers counted, " + all) + doubt_of(s, with) + "."));
    heads.push_back(device);
    heads.push_back(device + ", with transfers");
  }
  if (sentences.empty()) return {};
  std::vector<std::vector<html>> rows;
  for (const document_problem& p : s.sizes) {
    auto& line = rows.emplace_back(
        std::vector<html>{html::text(p.rows.front()->size()), time_cell(fastest_on(p, "cpu", false), false)});
    for (const std::string& device : devices) {
      if (where(s, wins_of(s, device, false)).empty()) continue;
      line.push_back(time_cell(fastest_on(p, device, false), false));
      line.push_back(time_cell(fastest_on(p, device, true), true));
    }
  }
  return tag("h4", "When does a device beat the CPU?") + tag("ul", sentences) +
         table("The fastest of all variants, at each size.", heads, rows);
}

/// What a program of the document computes on, as its exercises do.
std::string kind_on(const row& r) { return r.ranks ? "ranks" : r.is_cpu ? "threads" : r.device; }

/// The fastest program of a kind; of any other kind if it is not asked for.
const row* fastest_program(const document_problem& p, const std::string& kind, bool is_asked_for) {
  const row* best = nullptr;
  for (const row* r : p.rows)
    if (is_of_the_document(*r) && (kind_on(*r) == kind) == is_asked_for) best = faster(best, r, true);
  return best;
}

wins_at programs_win(const document_study& s, const std::string& kind) {
  wins_at wins;
  for (const document_problem& p : s.sizes) {
    const row *ours = fastest_program(p, kind, true), *others = fastest_program(p, kind, false);
    const interval *time = ours ? counted_time(*ours, true) : nullptr,
                   *other = others ? counted_time(*others, true) : nullptr;
    if (!time || !other)
      wins.emplace_back();
    else
      wins.emplace_back(win{time->median < other->median, !ends_before(*time, *other) && !ends_before(*other, *time)});
  }
  return wins;
}

/// Answers, for a document that ran on ranks too: when do threads, ranks or a device win? By its own programs.
html who_wins(const document_study& s) {
  std::vector<std::string> kinds;
  for (const document_problem& p : s.sizes)
    for (const row* r : p.rows)
      if (is_of_the_document(*r) && std::find(kinds.begin(), kinds.end(), kind_on(*r)) == kinds.end())
        kinds.push_back(kind_on(*r));
  if (std::find(kinds.begin(), kinds.end(), "ranks") == kinds.end()) return {};
  html sentences;
  std::vector<std::string> heads{"size"};
  for (const std::string& kind : kinds) {
    const wins_at wins = programs_win(s, kind);
    const std::string at = where(s, wins), name = name_of_kind(s, kind);
    heads.push_back(name);
    if (!at.empty()) sentences += tag("li", html::sentence(name + ": the fastest " + at + doubt_of(s, wins) + "."));
  }
  std::vector<std::vector<html>> rows;
  for (const document_problem& p : s.sizes) {
    auto& line = rows.emplace_back(std::vector<html>{html::text(p.rows.front()->size())});
    for (const std::string& kind : kinds) line.push_back(time_cell(fastest_program(p, kind, true), true));
  }
  return tag("h4", "When do threads, ranks or a device win?") + tag("ul", sentences) +
         table("The fastest of the document’s programs, a device’s with its transfers.", heads, rows);
}

/// Answers: from what size is local memory too small, and what does it gain?
html what_local_memory_gains(const document_study& s) {
  std::vector<std::vector<html>> rows;
  for (const std::string& device : devices_of(s))
    for (const document_problem& p : s.sizes)
      for (const row* local : p.rows) {
        if (local->device != device || !local->variant.ends_with(":local")) continue;
        const row* global = global_beside(*local, p);
        const bool both = global && global->timed() && local->timed();
        rows.push_back({html::text(device), html::text(local->size()),
                        global && global->timed() ? html::text(marked_time(*global)) : html("–"),
                        local->timed() ? html::text(marked_time(*local)) : html("–"),
                        both ? html::text(marked(global->ranked() && local->ranked(),
                                                 factor(global->kernel->median / local->kernel->median)))
                             : html("–"),
                        html::text(local->reason)});
      }
  if (rows.empty()) return {};
  return tag("h4", "From what size does local memory not suffice, and what does it gain?") +
         tag("div", {{"class", "beside"}},
             table("One item for each coefficient, the factors in global or in local memory; kernel times.",
                   {"device", "size", "global", "local", "global / local", "why not"}, rows, content::words));
}

/// Both ways of adding the carry at one local size of a device.
struct two_ways {
  std::string device, tuning;  // the tuning without the way
  const row *local = nullptr, *direct = nullptr;
};

std::vector<two_ways> ways_of(const document_problem& p) {
  std::vector<two_ways> all;
  for (const row* r : p.rows) {
    if (system_of(*r).empty() || !r->timed()) continue;
    std::string rest, way;
    for (const auto& [name, word] : tuning_parts(r->tuning))
      if (name == "carry")
        way = word;
      else
        rest += (rest.empty() ? "" : " ") + name + "=" + word;
    if (way != "local" && way != "direct") continue;
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const two_ways& w) { return w.device == r->device && w.tuning == rest; });
    two_ways& at = known == all.end() ? all.emplace_back(two_ways{r->device, rest}) : *known;
    (way == "local" ? at.local : at.direct) = r;
  }
  std::erase_if(all, [](const two_ways& w) { return !w.local || !w.direct; });
  return all;
}

/// "opencl:0: direct is faster at 3 of 8 local sizes, local at 1; the others are too close to say."
std::string winner_of(const std::vector<two_ways>& all, const std::string& device) {
  std::size_t direct = 0, local = 0, sizes = 0;
  for (const two_ways& w : all) {
    if (w.device != device) continue;
    ++sizes;
    direct += w.direct->is_surely_shorter(*w.local);
    local += w.local->is_surely_shorter(*w.direct);
  }
  return clipped(device, page_limits::name) + ": direct is faster at " + count(direct) + " of " + count(sizes) +
         " local sizes, local at " + count(local) +
         (direct + local < sizes ? "; the others are too close to say." : ".");
}

/// Both ways beside each other, as in the document's charts.
html which_way_adds_faster(const document_study& s) {
  std::vector<two_ways> all;
  for (const document_problem& p : s.sizes)
    if (auto more = ways_of(p); !more.empty()) all = std::move(more);  // of the largest size
  std::vector<std::vector<html>> rows;
  std::vector<std::string> devices;
  for (const two_ways& w : all) {
    if (std::find(devices.begin(), devices.end(), w.device) == devices.end()) devices.push_back(w.device);
    rows.push_back({html::text(w.device), html::text(w.tuning), html::text(marked_time(*w.local)),
                    html::text(marked_time(*w.direct)),
                    over(w.local->kernel->median, w.direct->kernel->median, w.local->ranked() && w.direct->ranked())});
  }
  if (rows.empty()) return {};
  html sentences;
  for (const std::string& device : devices) sentences += tag("li", html::sentence(winner_of(all, device)));
  return tag("h4", "Which way of adding the carry is faster?") + tag("ul", sentences) +
         table("The carry through local memory, or read directly.",
               {"device", "tuning", "local", "direct", "local / direct"}, rows);
}

std::string error_of(const row& r) {
  if (r.wrong()) return "WRONG";
  return !r.is_ok() || !r.relative_error ? "–" : significant(*r.relative_error, 2);
}

/// Answers: are all products right, by the error that the document allows?
html how_large_errors_are(const document_study& s) {
  const std::string allowed(record::allowed_error(s.sizes.back().from->document, s.algorithm));
  if (allowed.empty()) return {};
  std::vector<std::string> heads = size_names(s);
  heads.insert(heads.begin(), "program");
  std::vector<std::pair<std::string, std::vector<html>>> lines;
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    for (const row* r : s.sizes[i].rows) {
      if (system_of(*r).empty()) continue;
      const std::string name = system_of(*r) + " @" + place_of(*r);
      auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == name; });
      if (line == lines.end()) {
        lines.emplace_back(name, std::vector<html>(heads.size(), "–")).second.front() = html::text(name);
        line = lines.end() - 1;
      }
      line->second[i + 1] = html::text(error_of(*r));
    }
  std::vector<std::vector<html>> rows;
  for (auto& [name, entries] : lines) rows.push_back(std::move(entries));
  if (rows.empty()) return {};
  const std::string caption =
      "The largest error against the expected result, relative to the largest value; 0: the same bits. The document "
      "allows " +
      allowed + ".";
  return tag("h4", "Are the results right?") + table(caption, heads, rows);
}

}  // namespace

html study_answers(const document_study& s) {
  html answers = which_way_adds_faster(s);
  answers += who_wins(s);
  answers += when_a_device_wins(s);
  answers += what_local_memory_gains(s);
  answers += how_large_errors_are(s);
  return answers + what_waits_where(s);
}

}  // namespace tilewise::report
