// SPDX-License-Identifier: Apache-2.0
// The programs of a document whose runs are long: its tables of whole runs, whether all programs have the same bits,
// and which of them is the fastest.
#include "report/format.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tilewise::report {

namespace {

/// One size, with the document's rows by program.
struct run {
  const document_problem* of;
  std::string size;
  std::map<std::string, quoted_time> quoted;
};

std::string program_of(const row& r, const run& at) {
  const std::string system = system_of(r);
  if (system.empty()) return "";
  for (const auto& [program, time] : at.quoted)
    if (time.as.system.starts_with(system)) return program;
  return system;
}

/// The fastest row that repeats a program, on any device; without a time, any.
const row* repeating(const run& at, const std::string& program) {
  const row *best = nullptr, *any = nullptr;
  for (const row* r : at.of->rows) {
    if (program_of(*r, at) != program) continue;
    best = faster(best, r, false);
    any = r;
  }
  return best ? best : any;
}

/// All programs of a study: the document's, in its order, and then those that only the records name.
struct run_programs {
  std::vector<run> sizes;
  std::vector<std::string> names;
};

run_programs programs_of(const document_study& s) {
  run_programs all;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::find(all.names.begin(), all.names.end(), name) == all.names.end())
      all.names.push_back(name);
  };
  const std::vector<std::string> names = size_names(s);
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    run& at = all.sizes.emplace_back(run{&s.sizes[i], names[i], {}});
    for (const quoted_table& t : quoted_tables(s.sizes[i]))
      for (const quoted_time& q : t.rows) {
        at.quoted.emplace(q.program, q);
        add(q.program);
      }
  }
  for (const run& at : all.sizes)
    for (const row* r : at.of->rows) add(program_of(*r, at));
  return all;
}

/// Programs by sizes: each cell has the document's figure and ours.
html run_table(const run_programs& all, bool of_speedups) {
  std::vector<std::string> heads{"program"};
  for (const run& at : all.sizes) {
    heads.push_back(at.size + ", published");
    heads.push_back("here");
  }
  std::vector<std::vector<html>> lines;
  for (const std::string& name : all.names) {
    auto& line = lines.emplace_back(std::vector<html>{html::text(name)});
    for (const run& at : all.sizes) {
      const auto of = at.quoted.find(name);
      const std::string published = of == at.quoted.end() ? "" : of_speedups ? of->second.speedup : of->second.time;
      const row* ours = repeating(at, name);
      line.push_back(html::text(published.empty() ? "–" : published));
      line.push_back(of_speedups ? speedup_cell(at.of->baseline(), ours, false)
                                 : marked_median(ours, false, at.of->times_in_run()));
    }
  }
  if (lines.empty()) return {};
  return table(of_speedups
                   ? "Speedups over the baseline’s program, the document’s and ours."
                   : "Times of whole runs: our times of a part of the steps, multiplied by how often the run has it.",
               heads, lines);
}

bool has_the_bits(const row& r) { return r.is_ok() && r.verified && r.digest == r.reference_digest; }

/// The digest of the measured steps' field, and what the document compares results by: equal bits have equal values.
html bits_cell(const row* r) {
  constexpr std::size_t shown_digits = 8;
  if (!r || r->digest.empty()) return "–";
  if (!has_the_bits(*r)) return tag("strong", {{"class", "wrong"}}, "other bits");
  const auto& value = r->experiment->check_value;
  return html::text(value ? clipped(*value, page_limits::name) + " " : "") +
         tag("small", tag("code", html::text(r->digest.substr(0, shown_digits) + "…")));
}

/// Answers: do all programs compute the same, as the document says?
html same_bits(const run_programs& all) {
  std::vector<std::string> heads{"program"};
  for (const run& at : all.sizes) heads.push_back(at.size);
  std::vector<std::vector<html>> lines;
  std::size_t equal = 0, compared = 0;
  for (const std::string& name : all.names) {
    auto& line = lines.emplace_back(std::vector<html>{html::text(name)});
    for (const run& at : all.sizes) {
      const row* r = repeating(at, name);
      line.push_back(bits_cell(r));
      if (!r || r->digest.empty()) continue;
      ++compared;
      equal += has_the_bits(*r);
    }
  }
  if (compared == 0) return {};
  const record::experiment& from = *all.sizes.front().of->from;
  const std::string what = from.check ? "The " + clipped(*from.check, page_limits::name) + " and the" : "The";
  return tag("h4", "Same bits, other code") +
         paragraph(count(equal) + " of " + count(compared) +
                   " results of the programs have every bit of the definition’s result.") +
         table(what + " digest of the result after the measured steps.", heads, lines);
}

/// "OpenMP" for "CPU: OpenMP".
std::string without_kind(const std::string& program) {
  const std::size_t colon = program.find(": ");
  return colon == program.npos ? program : program.substr(colon + 2);
}

/// Sizes by the program that is the fastest there, in order.
using winners = std::vector<std::pair<std::string, std::vector<std::string>>>;

void note(winners& all, const std::string& program, const std::string& size) {
  if (all.empty() || all.back().first != program) all.emplace_back(program, std::vector<std::string>());
  all.back().second.push_back(size);
}

std::string told(const winners& all, std::size_t sizes) {
  std::vector<std::string> parts;
  for (const auto& [program, at] : all)
    parts.push_back(program + (at.size() == sizes ? " everywhere" : " (" + listed(at, 6) + ")"));
  return listed(parts, 6);
}

/// Our fastest of some programs, with a remark if another may be as fast.
std::string fastest_here(const run& at, const std::vector<std::string>& names) {
  const row *best = nullptr, *second = nullptr;
  for (const std::string& name : names) {
    const row* r = repeating(at, name);
    if (!r || !r->timed()) continue;
    if (faster(best, r, false) == best)
      second = faster(second, r, false);
    else
      second = std::exchange(best, r);
  }
  if (!best) return "";
  return without_kind(program_of(*best, at)) + (second && !best->is_surely_shorter(*second) ? ", in doubt" : "");
}

/// The document's fastest; several if they are equally fast.
std::string fastest_published(const run& at, const std::vector<std::string>& names) {
  std::vector<std::string> best;
  double least = 0;
  for (const std::string& name : names) {
    const auto q = at.quoted.find(name);
    if (q == at.quoted.end() || (!best.empty() && q->second.ns > least)) continue;
    if (!best.empty() && q->second.ns < least) best.clear();
    least = q->second.ns;
    best.push_back(without_kind(name));
  }
  return listed(best, 6);
}

/// "The fastest CPU program here: ... . In the document: ... ."
std::string fastest_of(const run_programs& all, const std::string& kind) {
  std::vector<std::string> names;
  for (const std::string& name : all.names)
    if (name.starts_with(kind + ": ")) names.push_back(name);
  winners ours, theirs;
  for (const run& at : all.sizes) {
    if (const std::string best = fastest_here(at, names); !best.empty()) note(ours, best, at.size);
    if (const std::string best = fastest_published(at, names); !best.empty()) note(theirs, best, at.size);
  }
  if (ours.empty() || theirs.empty()) return "";
  return "The fastest " + kind + " program here: " + told(ours, all.sizes.size()) +
         ". In the document: " + told(theirs, all.sizes.size()) + ".";
}

/// "CUDA is 1.79 (256² grid) and ... times as fast as OpenCL here; 1.50 and ... times in the document."
std::string against(const run_programs& all, const std::string& one, const std::string& other) {
  std::vector<std::string> ours, theirs;
  for (const run& at : all.sizes) {
    const row *a = repeating(at, one), *b = repeating(at, other);
    const auto x = at.quoted.find(one), y = at.quoted.find(other);
    if (!a || !b || !a->timed() || !b->timed() || x == at.quoted.end() || y == at.quoted.end()) continue;
    ours.push_back(marked(a->ranked() && b->ranked(), factor(b->kernel->median / a->kernel->median)) + " (" + at.size +
                   ")");
    theirs.push_back(factor(y->second.ns / x->second.ns));
  }
  if (ours.empty()) return "";
  return without_kind(one) + " is " + listed(ours, 6) + " times as fast as " + without_kind(other) + " here; " +
         listed(theirs, 6) + " times in the document.";
}

/// Names the programs for a GPU that ran on the machine's processor, for lack of one.
html without_a_gpu(const run_programs& all) {
  std::vector<std::string> names;
  for (const std::string& name : all.names) {
    const row* r = repeating(all.sizes.back(), name);
    if (r && r->timed() && name.starts_with("GPU: ") && r->hardware.is_cpu) names.push_back(name + " @" + place_of(*r));
  }
  return names.empty() ? html() : paragraph("On this machine’s processor, which is no GPU: " + listed(names, 6) + ".");
}

html conclusions(const run_programs& all) {
  html sentences;
  for (const std::string& sentence :
       {fastest_of(all, "CPU"), fastest_of(all, "GPU"), against(all, "GPU: CUDA", "GPU: OpenCL")})
    if (!sentence.empty()) sentences += tag("li", html::sentence(sentence));
  return sentences.empty() ? html() : tag("h4", "Which program is the fastest?") + tag("ul", sentences);
}

}  // namespace

html programs_of_runs(const document_study& s) {
  const run_programs all = programs_of(s);
  return run_table(all, false) + run_table(all, true) + without_a_gpu(all) + same_bits(all) + conclusions(all);
}

}  // namespace tilewise::report
