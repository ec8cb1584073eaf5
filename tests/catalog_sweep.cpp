// SPDX-License-Identifier: Apache-2.0
#include "catalog_sweep.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "cover_pairs.hpp"
#include "guarded_operand.hpp"
#include "registry/catalog.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>

namespace tilewise::tests {

namespace {

/// The number of random cases for each target if everything is tested.
constexpr std::size_t random_cases = 500;
/// Random cases have fewer elements than this in all operands, and those with random shapes fewer than four times as
/// many: there are many cases, and the definition is slow.
constexpr std::uint64_t small_case = 16500;
/// Cases with random shapes also have fewer operations than this, which take the definition a few hundredths of a
/// second.
constexpr double most_operations = 2e7;

/// Groups within this process: with more ranks than some shapes have elements; of GPUs; and with two ranks on one GPU.
/// Under mpirun, the processes are the ranks instead.
std::vector<std::string> groups() {
  const bool is_rank = backend::group::is_mpi_process();
  std::vector<std::string> all{"1*cpu:serial", "2*cpu:serial", "3*cpu:serial", "5*cpu:serial", "8*cpu:serial"},
      of_gpus{"cuda:*", "2*cuda:0"};
  if (is_rank) all = {"mpi:cpu:serial"}, of_gpus = {"mpi:cuda"};
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes())
    if (r.name == "cuda" && !r.devices(why_none).empty()) all.insert(all.end(), of_gpus.begin(), of_gpus.end());
  return all;
}

std::uint64_t elements(const registry::problem& p) {
  std::uint64_t all = 0;
  for (const auto& operands : {p.what->inputs(p), p.what->outputs(p)})
    for (const registry::operand& o : operands) all += o.count;
  return all;
}

std::string hex(std::uint64_t bits) {
  std::ostringstream text;
  text << std::hex << bits;
  return text.str();
}

std::vector<open_options> options_of(const sweep_target& target) {
  if (target.variant.device_backend() != "cpu") return {{}};
  std::vector<open_options> all;
  for (unsigned threads : {1u, 2u, 3u, 7u, 16u})
    for (auto level : backend::cpu::instruction_sets())
      if (threads == 1 || target.device != "cpu:serial") all.push_back({threads, std::string(name_of(level))});
  return all;
}

/// A number that is as special as the data. For odd seeds it is the largest of many by magnitude, where infinity and
/// NaN count as larger than any number.
base::scalar_value number_like(lab::data_class data, std::uint64_t seed, dtype type) {
  constexpr std::size_t many = 2048;  // infinities and NaNs are rarer than 1 in 1000
  const std::vector<std::byte> values = lab::generate(data, seed, type, many);
  base::scalar_value largest{type, 0};
  for (std::size_t i = 0; i < (seed % 2 != 0 ? many : 1); ++i) {
    base::scalar_value value{type, 0};
    std::memcpy(&value.bits, values.data() + i * size_of(type), size_of(type));
    const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
    if (i == 0 || (value.bits & ~sign) > (largest.bits & ~sign)) largest = value;
  }
  return largest;
}

/// A size up to `most`: usually an end of tiles, packs or blocks of a power of two, or one less or more.
std::uint64_t size_at_an_end(std::uint64_t most, std::mt19937_64& random) {
  const std::uint64_t tile = std::uint64_t{1} << random() % static_cast<unsigned>(std::bit_width(most));
  const std::uint64_t end = random() % (most / tile + 1) * tile, beside = random() % 3;
  return end + beside == 0 ? 0 : end + beside - 1;
}

/// The axes of one target, and the conversion of a row of indices to a case.
struct axes {
  const registry::variant& variant;
  const registry::algorithm& what;
  std::vector<registry::problem> settings;  // one problem for each combination; type and shape are set later
  std::vector<open_options> options;
  std::vector<placement> places;

  explicit axes(const sweep_target& target)
      : variant(target.variant),
        what(registry::find_algorithm(variant.algorithm)),
        settings(lab::problems_at(what, what.types[0], what.edge_shapes.back(), 0)),
        options(options_of(target)),
        places({placement::apart, placement::unaligned}) {
    if (what.in_place) places.push_back(placement::in_place);
  }

  static constexpr std::size_t type_at = 0, setting_at = 1, shape_at = 2, data_at = 3, options_at = 4, place_at = 5,
                               tuning_at = 6;  // followed by one for each further tuning axis

  std::vector<unsigned> sizes() const {
    std::vector<unsigned> all;
    for (std::size_t size : {what.types.size(), settings.size(), what.edge_shapes.size(), lab::all_data_classes.size(),
                             options.size(), places.size()})
      all.push_back(static_cast<unsigned>(size));
    for (const registry::tuning_axis& axis : variant.tuning) all.push_back(static_cast<unsigned>(axis.values.size()));
    return all;
  }

  /// The programs to compile for an OpenCL target: rows of a type, a word of the main setting (an operator or a
  /// payload; other settings are often arguments of kernels), and a value for each tuning axis. If everything is
  /// tested, every pair of these occurs. Otherwise every single value occurs, and the pairs differ between variants,
  /// since their axes begin at different values.
  std::vector<std::vector<unsigned>> programs(cover how_much) const {
    const std::vector<unsigned> all = sizes();
    std::vector<unsigned> parts{all[type_at], words()};
    parts.insert(parts.end(), all.begin() + tuning_at, all.end());
    if (how_much == cover::all) return cover_pairs(parts);
    std::vector<std::vector<unsigned>> rows(*std::max_element(parts.begin(), parts.end()));
    std::mt19937_64 random(variant.id().size());
    for (const unsigned part : parts)
      for (auto i = static_cast<unsigned>(random() % part); auto& row : rows) row.push_back(i++ % part);
    return rows;
  }

  /// The setting that needs different programs.
  std::size_t main_setting() const {
    const auto fewer = [](const registry::setting& a, const registry::setting& b) {
      return a.values.size() < b.values.size();
    };
    const auto most = std::max_element(what.settings.begin(), what.settings.end(), fewer);
    return static_cast<std::size_t>(most - what.settings.begin());
  }

  unsigned words() const {
    return static_cast<unsigned>(what.settings.empty() ? 1 : what.settings[main_setting()].values.size());
  }

  void set_program(std::vector<unsigned>& row, const std::vector<unsigned>& program) const {
    row[type_at] = program[0];
    if (!what.settings.empty()) row[setting_at] = setting_with_word(row[setting_at], program[1]);
    std::copy(program.begin() + 2, program.end(), row.begin() + tuning_at);
  }

  /// The settings that differ from `like` only in the main setting's word. If the algorithm refuses them, the first
  /// settings with that word.
  unsigned setting_with_word(unsigned like, unsigned word) const {
    const std::size_t main = main_setting();
    auto wanted = settings[like].setting;
    wanted[main] = static_cast<std::uint8_t>(word);
    const auto first = [&](auto matches) {
      return static_cast<unsigned>(std::find_if(settings.begin(), settings.end(), matches) - settings.begin());
    };
    const unsigned same = first([&](const registry::problem& p) { return p.setting == wanted; });
    if (same != settings.size()) return same;
    return first([&](const registry::problem& p) { return p.setting[main] == word; });
  }

  sweep_case at(const std::vector<unsigned>& row, std::uint64_t seed) const {
    return at(row, seed, problem_at(row, seed));
  }
  sweep_case at(const std::vector<unsigned>& row, std::uint64_t seed, const registry::problem& p) const {
    sweep_case c{.problem = p,
                 .data = lab::all_data_classes[row[data_at]],
                 .seed = seed,
                 .options = options[row[options_at]],
                 .tuning = registry::default_tuning(variant.tuning),
                 .place = places[row[place_at]]};
    for (std::size_t i = 0; i < variant.tuning.size(); ++i)
      c.tuning.value[i] = variant.tuning[i].values[row[tuning_at + i]];
    for (std::size_t k = 0; k < what.numbers.size(); ++k)
      if (lab::is_given(c.problem, k)) c.problem.number[k] = number_like(c.data, seed + k + 1, c.problem.type);
    what.fit_numbers(c.problem);
    return c;
  }

  registry::problem problem_at(const std::vector<unsigned>& row, std::uint64_t seed) const {
    return *problem_at(row, seed, what.edge_shapes[row[shape_at]]);
  }
  /// The problem with the row's settings, or with the next settings that are valid at this shape; none if there are
  /// none.
  std::optional<registry::problem> problem_at(const std::vector<unsigned>& row, std::uint64_t seed,
                                              const registry::extents& shape) const {
    const auto well_posed = lab::problems_at(what, what.types[row[type_at]], shape, seed);
    for (unsigned further = 0; further < settings.size(); ++further)
      for (const registry::problem& p : well_posed)
        if (p.setting == settings[(row[setting_at] + further) % settings.size()].setting) return p;
    return {};
  }
};

/// Describes the inputs of a case. Equal texts mean equal inputs and results.
std::string given_to(const sweep_case& c) {
  std::string text = to_string(c.problem);
  for (std::size_t k = 0; k < c.problem.what->numbers.size(); ++k)
    if (lab::is_given(c.problem, k))
      text += " " + std::string(c.problem.what->numbers[k]) + "=0x" + hex(c.problem.number[k].bits);
  return text + " data=" + std::string(name_of(c.data)) + " seed=" + std::to_string(c.seed);
}

/// The inputs and the definition's results for a case. All devices of a backend share them, since the definition is
/// slow. Only as many are kept as leave memory for other programs.
std::shared_ptr<const lab::verified_case> expected_of(const sweep_case& c) {
  constexpr double most = 256 << 20;  // bytes
  static std::map<std::string, std::shared_ptr<const lab::verified_case>> known;
  static double kept = 0;
  std::shared_ptr<const lab::verified_case>& found = known[given_to(c)];
  if (found) return found;
  auto made = std::make_shared<const lab::verified_case>(lab::make_case(c.problem, c.data, c.seed));
  if (kept + registry::bytes_of_operands(c.problem) > most) return made;
  kept += registry::bytes_of_operands(c.problem);
  return found = std::move(made);
}

}  // namespace

std::vector<sweep_target> sweep_targets() {
  std::vector<sweep_target> all;
  const std::vector<std::string> all_groups = groups();
  for (const registry::variant& v : registry::variants()) {
    if (v.peer || v.backend == "serial") continue;
    if (v.backend == "group")
      for (const std::string& name : all_groups) all.push_back({v, name});
    for (const backend::runtime& r : backend::runtimes()) {
      if (r.name != v.device_backend()) continue;
      std::string why_none;
      for (const auto& d : r.devices(why_none)) all.push_back({v, d->info().name});
    }
  }
  return all;
}

std::string to_string(const sweep_case& c, const sweep_target& target) {
  constexpr std::array<std::string_view, 3> places{"apart", "in place", "unaligned"};
  std::string text = target.variant.id() + " on " + target.device;
  if (c.options.threads != 0)
    text += " threads=" + std::to_string(c.options.threads) + " x86-64-" + c.options.instruction_set;
  text += ": " + given_to(c);
  const std::string tuning = to_string(c.tuning, target.variant.tuning);
  return text + (tuning.empty() ? "" : " " + tuning) + ", " + std::string(places[static_cast<std::size_t>(c.place)]);
}

std::vector<sweep_case> sweep_cases(const sweep_target& target, cover how_much) {
  const axes all(target);
  const std::vector<unsigned> sizes = all.sizes();
  const bool compiles = target.variant.backend == "opencl";
  const auto programs = compiles ? all.programs(how_much) : std::vector<std::vector<unsigned>>{};
  std::vector<sweep_case> cases;
  const auto add = [&](std::vector<unsigned> row, std::size_t index) {
    if (compiles) all.set_program(row, programs[index % programs.size()]);
    const std::uint64_t size = elements(all.problem_at(row, 0));
    const std::size_t one_of = size > 16 * small_case ? 16 : size > small_case ? 4 : 1;
    if (compiles && how_much != cover::all && index / programs.size() % one_of != 0) return;
    cases.push_back(all.at(row, index));
  };
  const auto rows = cover_pairs(sizes);
  const bool is_one_of_many =
      how_much != cover::all && target.variant.backend == "group" && std::isdigit(target.device[0]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (how_much == cover::few && i % 8 != 0) continue;
    if (is_one_of_many && (i + static_cast<std::size_t>(target.device[0] - '0')) % 3 != 0) continue;
    add(rows[i], i);
  }
  std::mt19937_64 random(2);
  for (std::size_t i = 0; how_much == cover::all && i < random_cases;) {
    std::vector<unsigned> row;
    for (unsigned size : sizes) row.push_back(static_cast<unsigned>(random() % size));
    if (elements(all.problem_at(row, 0)) <= small_case) add(row, rows.size() + i++);
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const sweep_case& a, const sweep_case& b) { return elements(a.problem) < elements(b.problem); });
  return cases;
}

sweep_case random_case(const sweep_target& target, std::mt19937_64& of_program, std::mt19937_64& random) {
  const axes all(target);
  const std::vector<unsigned> sizes = all.sizes();
  for (;;) {
    std::vector<unsigned> row;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool compiled = i == axes::type_at || i >= axes::tuning_at;
      row.push_back(static_cast<unsigned>((compiled ? of_program : random)() % sizes[i]));
    }
    if (!all.what.settings.empty())
      row[axes::setting_at] =
          all.setting_with_word(row[axes::setting_at], static_cast<unsigned>(of_program() % all.words()));
    registry::extents shape = all.what.edge_shapes[row[axes::shape_at]];
    for (unsigned i = 0; i < shape.rank; ++i) {
      const std::uint64_t most = shape.size[i] + 2, way = random() % 4;
      if (way == 0) shape.size[i] = random() % (most + 1);
      if (way == 1) shape.size[i] = size_at_an_end(most, random);
    }
    const std::uint64_t seed = random();
    const std::optional<registry::problem> p = all.problem_at(row, seed, shape);
    if (p && elements(*p) <= 4 * small_case && p->what->operations(*p) <= most_operations) return all.at(row, seed, *p);
  }
}

backend::device& sweep_runner::open(const open_options& options) {
  auto& device = opened_[std::to_string(options.threads) + options.instruction_set];
  if (!device) device = backend::find_device(target_.device, options);
  return *device;
}

std::string sweep_runner::unsupported(const sweep_case& c) {
  return registry::unsupported_reason(target_.variant, c.problem, open(c.options), c.tuning);
}

std::string sweep_runner::run(const sweep_case& c) { return run(c, *expected_of(c)); }

std::string sweep_runner::run(const sweep_case& c, const lab::verified_case& expected) {
  backend::queue& queue = open(c.options).queue();
  const auto shift_of = [&](const registry::operand& o) {
    return c.place == placement::unaligned ? size_of(o.type) : std::uint64_t{0};
  };
  const auto in = c.problem.what->inputs(c.problem), out = c.problem.what->outputs(c.problem);
  std::deque<guarded_operand> inputs, apart;
  std::vector<guarded_operand*> outputs;
  registry::bindings where;
  for (std::size_t i = 0; i < in.size(); ++i)
    where.in[i] = inputs.emplace_back(queue, expected.inputs[i], shift_of(in[i])).inner();
  std::size_t overwritten = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool in_place =
        c.place == placement::in_place && i < in.size() && in[i].count == out[i].count && !out[i].has_gaps;
    if (in_place) overwritten = i + 1;
    outputs.push_back(in_place ? &inputs[i] : &apart.emplace_back(queue, poisoned(out[i].bytes()), shift_of(out[i])));
    where.out[i] = outputs.back()->inner();
  }
  target_.variant.run(c.problem, where, c.tuning, queue);
  queue.finish();

  std::vector<std::vector<std::byte>> results;
  for (guarded_operand* o : outputs) {
    results.push_back(o->download());
    if (!o->guards_whole()) return "wrote outside its output";
  }
  for (std::size_t i = overwritten; i < inputs.size(); ++i)
    if (!same_bytes(inputs[i].download(), expected.inputs[i]) || !inputs[i].guards_whole()) return "changed its input";
  const lab::verdict verdict = lab::compare(expected, target_.variant, results);
  if (verdict.ok) return "";
  return std::to_string(verdict.mismatches) + " of its values differ; first " + verdict.first->operand + "[" +
         std::to_string(verdict.first->index) + "]: expected " + verdict.first->expected + ", got " +
         verdict.first->got;
}

}  // namespace tilewise::tests
