// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/against.hpp"

#include "base/left_behind.hpp"
#include "lab/time/statistics.hpp"
#include "record/file.hpp"
#include "report/compare/comparison.hpp"
#include "report/format.hpp"
#include "tool/bench/part.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/drivers/child.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include <unistd.h>

namespace tilewise::cli {

namespace {

/// Pairs of a row: a median has a narrow interval only of many. One side of a pair is measured for so long. Each side
/// is a new process: where its memory happens to be is a part of what varies.
constexpr unsigned fewest_pairs = 14, usual_pairs = 40, most_pairs = 100;
constexpr double side_s = 0.03;
/// A difference below this is none that anybody would look for: two copies of one build lie so far apart by where a
/// process's memory happens to be.
constexpr double same_within = 0.02;

/// The words that make `bench` measure this row alone.
std::vector<std::string> words_for(const lab::group& g, const lab::row& r, const std::vector<std::string>& how) {
  const registry::problem& p = g.problem;
  std::string settings;
  for (const auto& [name, word] : registry::named_settings(p))
    settings += (settings.empty() ? "" : ",") + std::string(name) + "=" + std::string(word);
  std::ostringstream seconds;
  seconds << side_s;
  std::vector<std::string> words{"bench", r.id(), "-q"};
  const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
  add("--device", r.place());
  add("--dtype", std::string(name_of(p.type)));
  add(p.shape.rank == 1 ? "--n" : "--shape", registry::to_string(p.shape));
  if (!settings.empty()) add("--set", settings);
  if (!r.variant->tuning.empty()) add("--tuning", registry::to_string(r.tuning, r.variant->tuning));
  add("--data", g.data());
  add("--max-time", seconds.str());
  words.insert(words.end(), how.begin(), how.end());
  return words;
}

/// A tool, and the times that it took.
struct side {
  std::string program, name;
  std::vector<double> ns = {};
};

/// Why a row has no ratio, and what that means for the tool's exit code.
struct failure {
  std::string why;
  exit_code code;
};

class contest {
 public:
  contest(const std::string& other, std::vector<std::string> how, double max_time_s)
      : folder_(base::make_temporary_folder(base::temporary_parents(), "tilewise-against-")),
        how_(std::move(how)),
        sides_{side{"/proc/self/exe", "this tool"}, side{other, other}},
        pairs_(max_time_s == 0
                   ? usual_pairs
                   : std::clamp(static_cast<unsigned>(max_time_s / (4 * side_s)), fewest_pairs, most_pairs)) {
    if (folder_.empty())
      throw error(errc::io, "no temporary folder can be made; set TMPDIR to one that can be written to");
    if (access(other.c_str(), X_OK) != 0)
      throw error(errc::io, "--against: " + other + " is no program; name another build's tilewise");
  }
  contest(const contest&) = delete;
  ~contest() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// The statistics of the other tool's time over ours; none if it was interrupted. Throws a `failure`.
  std::optional<lab::summary> compare(const lab::group& g, const lab::row& r) {
    for (side& s : sides_) {
      s.ns.clear();
      require_right_result(g, r, s);
    }
    for (unsigned pair = 0; pair < pairs_; ++pair)
      for (unsigned turn = 0; turn < 2; ++turn) {  // A B, B A, ...
        side& s = sides_[(pair + turn) % 2];
        s.ns.push_back(time_of(g, r, s));
        if (interrupt_requested()) return {};
      }
    return lab::ratio_of(sides_[1].ns, sides_[0].ns);
  }
  std::string median(std::size_t i) const { return report::duration(lab::summarize(sides_[i].ns).median); }

 private:
  /// Runs `bench` for this row; returns what it printed.
  std::string bench_of(const lab::group& g, const lab::row& r, const side& s, const char* option,
                       const std::string& value) const {
    std::vector<std::string> words = words_for(g, r, how_);
    words.insert(words.end(), {option, value});
    const child_result ended = run_program(s.program, words, [](pid_t) { return !interrupt_requested(); });
    if (!interrupt_requested() && !ended.succeeded())
      throw failure{s.name + ": " + explain(ended),
                    ended.exited ? static_cast<exit_code>(ended.status) : exit_code::device_lost};
    return ended.out;
  }

  /// Checks the row's result once, since the turns only take its time.
  void require_right_result(const lab::group& g, const lab::row& r, const side& s) const {
    const std::string file = folder_ + "/records.jsonl";
    std::filesystem::remove(file);
    bench_of(g, r, s, "-o", file);
    bool is_there = false;
    if (std::filesystem::exists(file))
      record::read_records(file, [&](const record::result& found) {
        is_there |= found.what.variant == r.id() && found.timing && found.timing->kernel;
      });
    if (!is_there && !interrupt_requested()) throw failure{s.name + " has no such row", exit_code::unavailable};
  }

  double time_of(const lab::group& g, const lab::row& r, const side& s) const {
    const double ns = std::strtod(bench_of(g, r, s, "--part", std::string(word_of_turn)).c_str(), nullptr);
    if (ns <= 0 && !interrupt_requested()) throw failure{s.name + " printed no time", exit_code::internal};
    return ns;
  }

  std::string folder_;
  std::vector<std::string> how_;
  std::array<side, 2> sides_;
  unsigned pairs_;
};

report::interval speed_of(const lab::summary& ratio) {
  report::interval speed{ratio.median, {}, {}};
  if (ratio.ci95) speed.low = ratio.ci95->lo, speed.high = ratio.ci95->hi;
  return speed;
}

std::string line_of(const lab::row& r, const contest& of, const report::interval& speed, report::verdict is) {
  const std::string interval =
      speed.low && speed.high ? " (" + report::factor(*speed.low) + " to " + report::factor(*speed.high) + ")" : "";
  return wrapped(r.variant->label() + " @" + r.place()) + right(of.median(0), 9) + right(of.median(1), 9) + "  " +
         left(report::factor(speed.median) + "x" + interval, 23) + " " + std::string(name_of(is)) + "\n";
}

}  // namespace

exit_code bench_against(const std::string& other, const std::vector<lab::group>& plan,
                        const std::vector<std::string>& how, double max_time_s) {
  contest both(other, how, max_time_s);
  exit_code result = exit_code::ok;
  std::map<report::verdict, unsigned> verdicts;
  print(left("variant @device", label_width) + "     this    other  speed of this one       verdict\n");
  for (const lab::group& g : plan) {
    if (std::none_of(g.rows.begin(), g.rows.end(), [&](const lab::row& r) { return is_contested(g, r); })) continue;
    print("\n" + g.name() + "\n");
    for (const lab::row& r : g.rows) {
      if (!is_contested(g, r)) continue;
      try {
        const std::optional<lab::summary> ratio = both.compare(g, r);
        if (!ratio) return exit_code::interrupted;
        const report::interval speed = speed_of(*ratio);
        const report::verdict is = report::judged(speed, same_within);
        print(line_of(r, both, speed, is));
        ++verdicts[is];
        if (is == report::verdict::slower) result = graver(result, exit_code::regression);
      } catch (const failure& f) {
        print(wrapped(r.variant->label() + " @" + r.place()) + "  not compared: " + f.why + "\n");
        result = graver(result, f.code);
      }
    }
  }
  std::string said;
  for (const auto& [is, count] : verdicts)
    said += (said.empty() ? "\nThis tool against the other: " : ", ") + std::to_string(count) + " " +
            std::string(name_of(is));
  print(said.empty() ? said : said + ".\n");
  return result;
}

}  // namespace tilewise::cli
