// SPDX-License-Identifier: Apache-2.0
#include "report/seeds/seeds.hpp"

#include "report/format.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilewise::report {

namespace {

// Real documents stay far below these limits.
constexpr std::size_t most_rows = 1000;      // of a problem
constexpr std::size_t most_sizes = 30;       // of a study, the largest
constexpr std::size_t most_published = 100;  // of a problem

std::string problem_of(const row& r) { return r.group.substr(0, r.group.rfind(" @")); }

/// The key of a row within one problem.
auto line_key(const row& r) { return std::tie(r.variant, r.device, r.tuning, r.threads, r.mode); }

std::string title_of(const row& r) {
  const std::string settings = shown_settings(r.settings);
  const bool is_apart = r.data != "seeds" && r.data != "uniform";
  const std::string keys = is_apart ? r.data : r.algorithm == "sort" ? "random" : "";
  return r.algorithm + " " + r.dtype + (settings.empty() ? "" : ", " + settings) + (keys.empty() ? "" : ", " + keys) +
         (shape_apart(r).empty() || r.algorithm != "matmul" ? "" : ", rectangular");
}

/// Adds rows in the order of the records; a later record of a case replaces an earlier one.
class chapter_builder {
 public:
  void add(const row& r) {
    const std::string title = title_of(r);
    document_chapter& chapter = found(all, chapters_, {r.experiment->document, r.machine});
    chapter.document = r.experiment->document;
    chapter.machine = r.machine;
    const std::size_t in = chapters_.at({chapter.document, chapter.machine});
    document_study& study = found(chapter.studies, studies_, {in, title});
    study.algorithm = r.algorithm;
    study.title = title;
    const std::size_t of = studies_.at({in, title});
    document_problem& problem = found(study.sizes, problems_, {in, of, problem_of(r)});
    problem.name = problem_of(r);
    problem.from = r.experiment;
    const std::size_t place = problems_.at({in, of, problem.name});
    auto& known = lines_[{in, of, place}];
    if (known.size() == most_rows && !known.contains(line_key(r))) return;
    const auto [at, is_new] = known.try_emplace(line_key(r), problem.rows.size());
    if (is_new) problem.rows.push_back(&r);
    problem.rows[at->second] = &r;
  }

  std::vector<document_chapter> all;

 private:
  /// The entry of a key; appended if there is none.
  template <class T, class Key>
  static T& found(std::vector<T>& in, std::map<Key, std::size_t>& places, const Key& key) {
    const auto [at, is_new] = places.try_emplace(key, in.size());
    return is_new ? in.emplace_back() : in[at->second];
  }

  using row_key = decltype(line_key(std::declval<const row&>()));
  std::map<std::pair<std::string, std::string>, std::size_t> chapters_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> studies_;
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::size_t> problems_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::map<row_key, std::size_t>> lines_;
};

}  // namespace

bool is_same(const record::published_time& a, const record::published_time& b) {
  return a.system == b.system && a.machine == b.machine && a.with_transfers == b.with_transfers;
}

const row* document_problem::baseline() const {
  const row* best = nullptr;
  for (const row* r : rows)
    if (r->variant == from->baseline && r->timed() && (!best || r->device == from->baseline_device)) best = r;
  return best;
}

std::vector<record::published_time> document_problem::published() const {
  std::vector<record::published_time> all;
  const auto add = [&](const std::vector<record::published_time>& more) {
    for (const record::published_time& p : more)
      if (p.ns > 0 && all.size() < most_published &&
          std::none_of(all.begin(), all.end(), [&](const auto& known) { return is_same(known, p); }))
        all.push_back(p);
  };
  if (from->of_problem) add(*from->of_problem);
  for (const row* r : rows) add(r->experiment->published);
  return all;
}

bool document_study::counts_transfers() const {
  return std::any_of(sizes.begin(), sizes.end(), [](const document_problem& p) {
    const auto all = p.published();
    return std::any_of(all.begin(), all.end(), [](const auto& time) { return time.with_transfers; });
  });
}

bool document_study::has_own_speedups() const {
  const row* base = sizes.back().baseline();
  if (!base || !system_of(*base).empty()) return base != nullptr;
  return std::none_of(sizes.begin(), sizes.end(), [](const document_problem& p) {
    const bool has_programs =
        std::any_of(p.rows.begin(), p.rows.end(), [](const row* r) { return !system_of(*r).empty(); });
    return has_programs && !p.published().empty();
  });
}

std::vector<document_chapter> document_chapters(const model& m) {
  chapter_builder built;
  for (const row& r : m.rows)
    if (!r.is_limit() && r.experiment) built.add(r);
  const auto work = [](const document_problem& p) { return std::pair(p.rows.front()->operations, p.rows.front()->n); };
  for (document_chapter& c : built.all)
    for (document_study& s : c.studies) {
      std::stable_sort(s.sizes.begin(), s.sizes.end(), [&](const auto& a, const auto& b) { return work(a) < work(b); });
      s.left_out = s.sizes.size() - std::min(s.sizes.size(), most_sizes);
      s.sizes.erase(s.sizes.begin(), s.sizes.begin() + static_cast<std::ptrdiff_t>(s.left_out));
    }
  return std::move(built.all);
}

const interval* counted_time(const row& r, bool with_transfers) {
  if (!r.timed()) return nullptr;
  if (!with_transfers || r.is_cpu || r.ranks) return &*r.kernel;
  return r.round_trip ? &*r.round_trip : nullptr;
}

bool is_counted_sure(const row& r, bool with_transfers) {
  const interval* time = counted_time(r, with_transfers);
  return time && r.plausible && time->is_narrow();
}

const row* faster(const row* a, const row* b, bool with_transfers) {
  const interval* x = a ? counted_time(*a, with_transfers) : nullptr;
  const interval* y = b ? counted_time(*b, with_transfers) : nullptr;
  if (!x || !y) return x ? a : y ? b : nullptr;
  return y->median < x->median ? b : a;
}

bool may_be_fastest(const row& r) { return !r.peer && !is_less_exact(r); }

std::string transfers_text(const row& r) {
  return r.timed() && r.round_trip ? marked(is_counted_sure(r, true), duration(r.round_trip->median)) : "–";
}

html over(std::optional<double> theirs, std::optional<double> ours, bool is_sure) {
  return html::text(theirs && ours ? marked(is_sure, factor(*theirs / *ours)) : "–");
}

std::optional<double> median_of(const row* r, bool with_transfers) {
  const auto& taken = r && with_transfers ? r->round_trip : r ? r->kernel : std::nullopt;
  return r && r->timed() && taken ? std::optional(taken->median) : std::nullopt;
}

html speedup_cell(const row* baseline, const row* r, bool with_transfers) {
  const bool is_sure = baseline && r && is_counted_sure(*baseline, false) && is_counted_sure(*r, with_transfers);
  return over(median_of(baseline, false), median_of(r, with_transfers), is_sure);
}

html marked_median(const row* r, bool with_transfers, double times) {
  const std::optional<double> time = median_of(r, with_transfers);
  return html::text(time ? marked(is_counted_sure(*r, with_transfers), duration(*time * times)) : "–");
}

std::string system_of(const row& r) { return r.experiment->system ? *r.experiment->system : ""; }

bool is_of_the_document(const row& r) { return !system_of(r).empty() && !system_of(r).starts_with("ours"); }

const row* find_row(const document_problem& p, const std::string& variant, const std::string& device) {
  for (const row* r : p.rows)
    if (r->variant == variant && r->device == device) return r;
  return nullptr;
}

const row* global_beside(const row& local, const document_problem& p) {
  if (!local.variant.ends_with(":local")) return nullptr;
  return find_row(p, local.variant.substr(0, local.variant.size() - 5) + "global", local.device);
}

const row* fallback_of(const row& r, const document_problem& p) {
  const row* global = r.status == record::status::skipped ? global_beside(r, p) : nullptr;
  return global && global->timed() ? global : nullptr;
}

std::string place_of(const row& r) { return r.peer && r.is_cpu ? "cpu" : clipped(r.device, page_limits::name); }

std::string name_with_place(const row& r) { return short_name(r.variant) + " @" + place_of(r); }

}  // namespace tilewise::report
