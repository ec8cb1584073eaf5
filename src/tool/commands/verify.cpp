// SPDX-License-Identifier: Apache-2.0
// tilewise verify: compares the digests of every variant on every device for the same input.
#include "lab/verify/verify.hpp"
#include "backend/group/mpi_world.hpp"
#include "call/execute.hpp"
#include "io/host_memory.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/plan/problems.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/output.hpp"
#include "tool/recorded_digests.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <set>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;

struct verify_request {
  common_options common;
  device_list_options devices;
  std::vector<std::string> algorithms;
  std::uint64_t n = 1000003;  // a prime: full tiles and a shorter last one at every tile size
  std::uint64_t seed = 1;
  bool thorough = false;

  /// Whether its input is the one whose digests are recorded.
  bool has_recorded_input() const { return n == verify_request{}.n && seed == verify_request{}.seed; }
};

/// One input to compute.
struct question {
  registry::problem problem;
  lab::data_class data;
  bool is_first = false;  // its digest is printed
};

/// One variant on one device, with its result for the first question, or for the first question that it got wrong.
struct checked {
  const registry::variant* variant;
  device_handle on;
  registry::tuning tuning;
  lab::verdict verdict;
  std::optional<error> failure;
  std::string wrong_problem;  // empty for the first question

  bool good() const { return !failure && verdict.ok; }
  std::string where() const { return variant->id() + " on " + on->info().name; }
};

struct algorithm_result {
  const registry::algorithm* what;
  registry::problem problem;
  compared_digest digest;
  std::size_t inputs;
  std::size_t cases;  // variants on devices, once for each input
  std::vector<checked> runs;
};

/// Size limit for the questions after the first, since there are many of them.
constexpr std::uint64_t most_of_further_ones = 65537;

/// A few problems that together contain each word of each setting.
std::vector<registry::problem> each_word_once(const std::vector<registry::problem>& all) {
  std::vector<registry::problem> few;
  for (std::size_t s = 0; !all.empty() && s < all.front().what->settings.size(); ++s)
    for (const registry::problem& p : all)
      if (std::none_of(few.begin(), few.end(), [&](const auto& q) { return q.setting[s] == p.setting[s]; }))
        few.push_back(p);
  return few.empty() && !all.empty() ? std::vector{all.front()} : few;
}

/// Every setting of both float types, on data with wide exponents, with NaNs, and with subnormal numbers.
std::vector<question> all_further_ones(const registry::algorithm& what, const registry::extents& shape,
                                       std::uint64_t seed) {
  std::vector<question> all;
  for (const lab::data_class data : {lab::data_class::wide, lab::data_class::nan, lab::data_class::subnormal})
    for (const dtype type : {dtype::f32, dtype::f64})
      for (const registry::problem& p : lab::problems_at(what, type, shape, seed)) all.push_back({p, data});
  return all;
}

/// A few of these questions, which together contain every word of every setting.
std::vector<question> few_further_ones(const registry::algorithm& what, const registry::extents& shape,
                                       std::uint64_t seed) {
  std::vector<question> few;
  for (const auto& [data, type] :
       {std::pair(lab::data_class::nan, dtype::f32), std::pair(lab::data_class::wide, dtype::f64),
        std::pair(lab::data_class::subnormal, dtype::f32)})
    for (const registry::problem& p : each_word_once(lab::problems_at(what, type, shape, seed)))
      few.push_back({p, data});
  return few;
}

/// The first question has floats with wide exponents and the algorithm's first settings: any other order changes bits.
/// Later questions are smaller.
std::vector<question> questions_for(const registry::algorithm& what, const verify_request& request) {
  registry::extents shape = what.edge_shapes.back();
  const bool is_array = shape.rank == 1;
  if (is_array) shape = {request.n};
  registry::problem first{.what = &what, .type = what.types.front(), .shape = shape};
  lab::give_numbers(first, request.seed);
  call::admit(first, {});
  std::vector<question> all{{first, lab::data_class::wide, true}};
  if (is_array) shape = {std::min(request.n, most_of_further_ones)};
  const auto further = request.thorough ? all_further_ones : few_further_ones;
  for (const question& q : further(what, shape, request.seed)) all.push_back(q);
  return all;
}

checked check_one(const lab::verified_case& c, const registry::choice& how, const device_handle& on) {
  checked result{
      .variant = how.variant, .on = on, .tuning = how.tuning, .verdict = {}, .failure = {}, .wrong_problem = {}};
  try {
    result.verdict = lab::verify(c, how, on->queue());
  } catch (const error& e) {
    if (backend::group::is_mpi_process()) throw;  // the other ranks wait in this case
    result.failure = e;
  } catch (const std::bad_alloc&) {
    if (backend::group::is_mpi_process()) throw;
    result.failure = error(errc::out_of_memory, "the host does not have enough memory for it; use a smaller --n");
  }
  return result;
}

/// The definition is the same on every CPU device, so it runs once.
bool is_wanted(const registry::variant& v, const device_handle& on, bool serial_done, const common_options& common) {
  if (v.peer || v.device_backend() != on->info().backend || (v.backend == "serial" && serial_done)) return false;
  return common.variant.empty() || v.is_called(common.variant);
}

/// Whether a run without --thorough skips the variant: OpenCL on a CPU compiles for up to ten seconds per variant.
/// There only one variant of each algorithm runs, unless it or the device is named: the last that would be chosen and
/// has the order's bits, since its programs are small.
bool is_left_out(const registry::variant& v, const device_handle& on, const verify_request& request) {
  const bool is_slow = on->info().backend == "opencl" && on->info().is_cpu;
  const bool is_named = !request.common.variant.empty() || request.devices.names != device_list_options{}.names;
  if (!is_slow || is_named || request.thorough) return false;
  const auto all = registry::variants_of(registry::find_algorithm(v.algorithm));
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const auto* w) {
    return w->backend == "opencl" && !w->peer && w->order == registry::claim::tilewise;
  });
  return last == all.rend() || *last != &v;
}

/// Keeps the first answer of a variant on a device, or its first wrong answer.
void keep(checked answer, std::vector<checked>& runs) {
  const auto known = std::find_if(runs.begin(), runs.end(), [&](const checked& run) {
    return run.variant == answer.variant && run.on == answer.on;
  });
  if (known == runs.end())
    runs.push_back(std::move(answer));
  else if (!answer.good())
    *known = std::move(answer);
}

bool has_failed(const registry::variant& v, const device_handle& on, const std::vector<checked>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const checked& run) { return run.variant == &v && run.on == on && !run.good(); });
}

/// Whether this device gets the question. OpenCL gets only the first, since it compiles each type and operator for
/// seconds.
bool is_asked(const question& q, const verify_request& request, const device_handle& on) {
  return q.is_first || request.thorough || on->info().backend != "opencl";
}

/// Asks `q`, which belongs to the case `c`. Counts its cases in `to`, and keeps the answers there.
void ask(const question& q, const lab::verified_case& c, const verify_request& request,
         std::span<const device_handle> devices, algorithm_result& to) {
  bool serial_done = false;
  for (const device_handle& on : devices)
    for (const registry::variant* v : registry::variants_of(*c.problem.what)) {
      if (!is_asked(q, request, on) || !is_wanted(*v, on, serial_done, request.common)) continue;
      if (is_left_out(*v, on, request) || has_failed(*v, on, to.runs)) continue;
      serial_done |= v->backend == "serial";
      const registry::tuning t = registry::parse_tuning(request.common.tuning, v->tuning);
      if (const std::string reason = registry::unsupported_reason(*v, c.problem, *on, t); !reason.empty()) {
        if (request.common.verbose && q.is_first) note(v->id() + " on " + on->info().name + ": left out: " + reason);
        continue;
      }
      progress("verifying " + v->id() + " on " + on->info().name);
      checked answer = check_one(c, {v, t, "asked for"}, on);
      ++to.cases;
      if (!q.is_first) answer.wrong_problem = registry::to_string(c.problem);
      if (request.common.verbose && (q.is_first || !answer.good()))
        note(answer.where() + (answer.good() ? ": same" : ": DIFFERS"));
      keep(std::move(answer), to.runs);
    }
}

algorithm_result verify_algorithm(const registry::algorithm& what, const verify_request& request,
                                  std::span<const device_handle> devices) {
  std::vector<question> questions = questions_for(what, request);
  std::erase_if(questions, [&](const question& q) {
    return std::none_of(devices.begin(), devices.end(), [&](const auto& on) { return is_asked(q, request, on); });
  });
  algorithm_result result{&what, questions.front().problem, {std::string(what.name), {}}, questions.size(), 0, {}};
  if (request.has_recorded_input()) result.digest.recorded = recorded_digest_of(what.name);
  for (const question& q : questions) {
    io::require_host_memory(2 * lab::operand_bytes(q.problem),  // besides what devices need
                            registry::to_string(q.problem) + " needs at least " +
                                std::to_string(2 * lab::operand_bytes(q.problem)) + " bytes");
    const lab::verified_case c = lab::make_case(q.problem, q.data, request.seed);
    if (q.is_first) result.digest.here = c.expected_digest;
    ask(q, c, request, devices, result);
  }
  return result;
}

std::string command_for(const checked& run, const verify_request& request) {
  const std::string tuning = registry::to_string(run.tuning, run.variant->tuning);
  return "tilewise verify " + std::string(run.variant->algorithm) + " --variant " + run.variant->id() + " --device " +
         run.on->info().name + " --n " + std::to_string(request.n) + " --seed " + std::to_string(request.seed) +
         (request.thorough ? " --thorough" : "") + (tuning.empty() ? "" : " --tuning \"" + tuning + "\"") +
         (request.devices.threads == 0 ? "" : " --threads " + std::to_string(request.devices.threads));
}

std::string sentence(const checked& run) {
  const std::string of = run.wrong_problem.empty() ? "" : run.wrong_problem + ": ";
  if (run.failure) return of + "failed: " + run.failure->what();
  if (!run.verdict.first) return of + "differs";
  const lab::difference& d = *run.verdict.first;
  return of + d.operand + "[" + std::to_string(d.index) + "] is " + d.got + " instead of " + d.expected + "; " +
         std::to_string(run.verdict.mismatches) +
         (run.verdict.mismatches == 1 ? " element differs" : " elements differ");
}

/// "8 variants and 1 of another order, 5 devices, 93 cases"
std::string tried(const algorithm_result& r) {
  std::set<const registry::variant*> in_order, others;
  std::set<device_handle> devices;
  for (const checked& run : r.runs) {
    (run.variant->order == registry::claim::own ? others : in_order).insert(run.variant);
    devices.insert(run.on);
  }
  return number_of(in_order.size(), "variant") +
         (others.empty() ? "" : " and " + std::to_string(others.size()) + " of another order") + ", " +
         number_of(devices.size(), "device") + ", " + number_of(r.cases, "case");
}

void print_text(const algorithm_result& r, const verify_request& request) {
  const auto bad = static_cast<std::size_t>(
      std::count_if(r.runs.begin(), r.runs.end(), [](const checked& run) { return !run.good(); }));
  std::string name(r.what->name);
  name.resize(std::max<std::size_t>(name.size(), 8), ' ');
  std::string text = name + "  " + r.digest.here + "  " +
                     (bad == 0 ? coloured("= on " + tried(r), colour::green)
                               : coloured("DIFFERS " + number_of(bad, "time") + " on " + tried(r), colour::red)) +
                     "\n";
  for (const checked& run : r.runs)
    if (!run.good())
      text += "  " + run.where() + ": " + sentence(run) + "\n  repeat: " + command_for(run, request) + "\n";
  print(text);
}

ordered_json to_json(const checked& run, const verify_request& request) {
  ordered_json fields{{"variant", run.variant->id()},
                      {"device", run.on->info().name},
                      {"tuning", registry::to_string(run.tuning, run.variant->tuning)},
                      {"order", run.variant->order == registry::claim::own ? "own" : "tilewise"},
                      {"ok", run.good()},
                      {"digest", run.failure ? ordered_json() : ordered_json(run.verdict.digest)},
                      {"mismatches", run.failure ? ordered_json() : ordered_json(run.verdict.mismatches)}};
  if (run.good()) return fields;
  fields["reason"] = sentence(run);
  fields["repeat"] = command_for(run, request);
  return fields;
}

ordered_json to_json(const algorithm_result& r, const verify_request& request) {
  ordered_json runs = ordered_json::array();
  for (const checked& run : r.runs) runs.push_back(to_json(run, request));
  return {{"algorithm", r.what->name},
          {"problem", registry::to_string(r.problem)},
          {"data", lab::name_of(lab::data_class::wide)},
          {"seed", request.seed},
          {"digest", r.digest.here},
          {"recorded_digest", r.digest.recorded ? ordered_json(r.digest.recorded->digest) : ordered_json()},
          {"recorded_on", r.digest.recorded.value_or(recorded_digest{}).machines},
          {"inputs", r.inputs},
          {"cases", r.cases},
          {"runs", runs}};
}

/// A wrong result is more serious than a failure.
exit_code judge(const std::vector<algorithm_result>& results) {
  exit_code worst = exit_code::ok;
  for (const algorithm_result& r : results) {
    if (r.digest.differs()) return exit_code::wrong_result;
    for (const checked& run : r.runs) {
      if (run.failure)
        worst = graver(worst, exit_code_of(run.failure->code()));
      else if (!run.verdict.ok)
        return exit_code::wrong_result;
    }
  }
  return worst;
}

/// Prints how the digests compare with other machines', for a good run and for a wrong one; nothing after a failure.
void print_standing(const std::vector<algorithm_result>& results, exit_code verdict, bool is_quiet) {
  std::vector<compared_digest> all;
  for (const algorithm_result& r : results) all.push_back(r.digest);
  const bool differs = std::any_of(all.begin(), all.end(), [](const auto& d) { return d.differs(); });
  if (!differs && (is_quiet || verdict != exit_code::ok)) return;
  // Names the CPU, since the definition, which makes the digest, runs there.
  print(coloured(sentence_on(all, backend::find_device("cpu", {})->info().description),
                 differs ? colour::red : colour::green));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

exit_code verify_all(const verify_request& request) {
  std::vector<const registry::algorithm*> wanted;
  for (const std::string& name : request.algorithms) wanted.push_back(&registry::find_algorithm(name));
  if (wanted.empty()) wanted.assign(registry::algorithms().begin(), registry::algorithms().end());
  device_list_options where = request.devices;
  where.quiet = request.common.quiet;
  const std::vector<device_handle> devices = open_devices(where);
  std::vector<algorithm_result> results;
  ordered_json all = ordered_json::array();
  for (const registry::algorithm* what : wanted) {
    results.push_back(verify_algorithm(*what, request, devices));
    if (results.back().runs.empty())
      throw error(errc::unsupported,
                  "no variant of " + std::string(what->name) + " fits --device " + joined(request.devices.names) +
                      (request.common.variant.empty() ? "" : " and --variant " + request.common.variant) +
                      "; `tilewise list` names them");
    if (request.common.json)
      all.push_back(to_json(results.back(), request));
    else
      print_text(results.back(), request);
  }
  const exit_code verdict = judge(results);
  if (request.common.json)
    print_json({{"ok", verdict == exit_code::ok}, {"thorough", request.thorough}, {"algorithms", all}});
  if (request.common.json) return verdict;
  if (!request.thorough && !request.common.quiet)
    print(
        coloured("Few cases each, fewest on OpenCL, which compiles for each; --thorough tries\n"
                 "every variant with every setting in f32 and f64 on all devices, for minutes.\n",
                 colour::dim));
  print_standing(results, verdict, request.common.quiet);
  return verdict;
}

}  // namespace

void add_verify(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("verify", "one input, every variant and device, one digest");
  auto request = std::make_shared<verify_request>();
  command->add_option("ALGORITHM", request->algorithms, "only these; all if none is named")->option_text(" ");
  command->add_option("--n", request->n, "elements of the input; default 1000003")
      ->option_text("N")
      ->transform(number_of_elements(0));
  command->add_option("--seed", request->seed, "of the input; another seed gives other floats")
      ->option_text("S")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  command->add_flag("--thorough", request->thorough, "every setting, type and device; takes minutes");
  add_device_list_options(*command, request->devices);
  command->add_option("--variant", request->common.variant, "only this one")->option_text("NAME");
  command->add_option("--tuning", request->common.tuning, "instead of the defaults")->option_text("TEXT");
  add_output_options(*command, request->common);
  command->footer(
      "The first case of each variant is floats with wide exponents, for which any\n"
      "other order of additions changes bits; the digest is of this case. NaNs and f64\n"
      "follow, on at most 65537 elements, with each word of each setting once. OpenCL,\n"
      "which compiles a program for each, runs only the first case and, on a CPU that\n"
      "is not named, one variant per algorithm. --thorough tries every variant with\n"
      "every setting in f32 and f64 on all devices, for minutes. Variants with another\n"
      "order are held to their error bounds. Exit 3 if a result differs.\n"
      "With the default --n and --seed the digests are also compared with those that\n"
      "other machines printed; exit 3 if one differs.\n"
      "\n"
      "Examples:\n"
      "  tilewise verify\n"
      "  tilewise verify --thorough\n"
      "  tilewise verify scan --device cpu,cuda:0 -v\n"
      "  tilewise verify reduce --n 67108865 --seed 7 --threads 3");
  command->callback([&call, request] { call.run = [request] { return verify_all(*request); }; });
}

}  // namespace tilewise::cli
