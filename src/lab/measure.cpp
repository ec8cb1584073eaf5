#include "lab/measure.hpp"

#include "backend/cpu/cpu_device.hpp"
#include "io/host_memory.hpp"
#include "lab/clock.hpp"
#include "lab/flush.hpp"
#include "lab/operand_sets.hpp"
#include "lab/transfers.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

namespace tilewise::lab {

namespace {

/// Cold samples take turns among this many sets of operands, so that none finds its own last data.
constexpr unsigned cold_sets = 3;

/// Below this time of a call a hot sample is preceded by an untimed call: the other contenders ran meanwhile, and their
/// data, not ours, is in the caches. Above it the first pass over the data does that by itself.
constexpr double settle_below_ns = 2e6;

/// The idle workers of GCC's OpenMP spin before they sleep, by default 300,000 turns: 6.8 ms were measured. Meanwhile
/// they would take a core from the contender that comes next.
constexpr std::chrono::milliseconds openmp_rest{8};

unsigned threads_of(const row& r) {
  if (r.on->info().backend != "cpu") return 0;
  return static_cast<backend::cpu::queue&>(r.on->queue()).threads();
}

std::string_view clock_of(const row& r) {
  const std::string& backend = r.on->info().backend;
  return backend == "cuda" ? "cuda_events" : backend == "opencl" ? "opencl_profiling" : "steady_clock";
}

case_facts describe(const group& what, const row& r, const measuring& how) {
  const registry::problem& p = what.problem;
  case_facts c;
  c.group = what.name();
  c.algorithm = r.variant != nullptr ? p.what->name : name_of(r.limit);
  c.variant = r.id();
  c.place = r.place();
  c.backend = r.variant != nullptr ? r.variant->backend : std::string_view(r.on->info().backend);
  c.type = p.type;
  c.shape = p.shape;
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    c.settings.emplace_back(p.what->settings[i].name, p.what->settings[i].values[p.setting[i]]);
  c.data = what.data();
  c.seed = how.seed;
  c.cold = how.cold;
  c.unit = p.what->speed_in;
  c.elements = p.shape.rank == 1 ? static_cast<double>(p.n()) : 0;
  if (r.variant == nullptr && r.limit == ceiling::fma) return c;  // its operations are known when it has run
  c.bytes_min = p.what->compulsory_bytes(p);
  if (r.variant == nullptr) {
    // The elements of the problem that as many bytes are.
    if (c.bytes_min > 0 && c.unit == registry::speed_unit::elements) c.elements *= copied_bytes(p) / c.bytes_min;
    c.bytes_min = copied_bytes(p);
    return c;
  }
  c.name = r.variant->name;
  c.peer = r.variant->peer;
  c.order = r.variant->order;
  c.source = r.variant->source;
  c.tuning = registry::to_string(r.tuning, r.variant->tuning);
  c.tuning_changes = registry::changes_of(r.tuning, r.variant->tuning);
  c.operations = p.what->operations(p);
  return c;
}

record begin_record(const group& what, const row& r, const measuring& how) {
  record result;
  result.device = r.on->info();
  result.bound_by = ceiling_of(*what.problem.what);
  result.what = describe(what, r, how);
  result.from = what.from;
  if (what.from != nullptr && r.variant != nullptr)
    result.published = figures_of(*what.from, what.problem.shape, r.id(), r.place());
  if (!r.skip.empty()) {
    result.state = status::skipped;
    result.reason = r.skip;
  }
  return result;
}

void fail(record& r, const std::string& reason) {
  r.state = status::failed;
  r.reason = reason;
  r.time = {};
}

template <class F>
void guarded(record& r, F&& f) {
  try {
    f();
  } catch (const error& failure) {
    fail(r, failure.what());
    r.failure = failure.code();
  } catch (const std::exception& failure) {
    fail(r, failure.what());
  }
}

using outputs_of_row = registry::host_operands;

class group_measurement {
 public:
  group_measurement(const group& what, const verified_case& inputs, const measuring& how)
      : what_(what),
        inputs_(inputs),
        how_(how),
        queue_(what.rows.back().on->queue()),
        memory_(inputs, queue_, how.cold ? cold_sets : 1) {
    if (how.cold) flusher_.emplace(queue_);
    for (const row& r : what.rows) records_.push_back(begin_record(what, r, how));
  }

  std::vector<record> run() {
    for (std::size_t i = 0; i < records_.size(); ++i) guarded(records_[i], [&] { verify_row(i, true); });
    note_operations();
    time_rows();
    for (std::size_t i = 0; i < records_.size(); ++i) guarded(records_[i], [&] { verify_row(i, false); });
    derive();
    if (!how_.hooks.interrupted()) measure_transfers(what_, inputs_, memory_, how_, records_);
    return std::move(records_);
  }

 private:
  void run_row(const row& r, std::size_t set) {
    if (r.variant != nullptr)
      r.variant->run(what_.problem, memory_.set(set), r.tuning, r.on->queue());
    else if (r.limit == ceiling::fma)
      operations_of_limit_ = r.on->queue().multiply_add(what_.problem.type);
    else
      r.on->queue().copy(memory_.copy_target(), memory_.copy_source(set), inputs_.inputs.front().size());
  }

  /// The very memory that is timed is checked, before and after.
  void verify_row(std::size_t i, bool is_first) {
    record& result = records_[i];
    const row& r = what_.rows[i];
    if (result.state != status::ok) return;
    if (is_first && how_.hooks.interrupted()) return interrupt(result);
    if (r.variant != nullptr) memory_.poison_outputs();
    r.on->queue().finish();
    const std::int64_t started = now_ns();
    run_row(r, 0);
    r.on->queue().finish();
    if (is_first) result.time.first_call_ns = static_cast<double>(now_ns() - started);
    if (r.variant == nullptr) return;
    const outputs_of_row outputs = memory_.download_outputs();
    result.verified = compare(inputs_, *r.variant, outputs);
    if (r.variant->order == registry::claim::own) note_changes(i, outputs);
    result.reference = inputs_.reference;
    result.reference_digest = inputs_.expected_digest;
    if (result.verified->ok) return;
    result.state = status::wrong;
    result.reason = is_first ? "the result differs from the definition's"
                             : "the result was right before the timing and differs after it";
    result.time = {};
  }

  void note_operations() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (what_.rows[i].variant != nullptr || what_.rows[i].limit != ceiling::fma) continue;
      records_[i].what.operations = operations_of_limit_;
      if (records_[i].state != status::ok || operations_of_limit_ > 0) continue;
      records_[i].state = status::skipped;
      records_[i].reason = "this device's backend has no multiply-adds of this type to measure";
    }
  }

  /// What has an order of its own may have another one in the next run: the last outputs against the first ones.
  void note_changes(std::size_t i, const outputs_of_row& outputs) {
    const auto [first, is_new] = first_outputs_.emplace(i, outputs);
    if (is_new) return;
    const std::vector<registry::operand> operands = what_.problem.what->outputs(what_.problem);
    std::uint64_t changed = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const std::size_t size = size_of(operands[k].type);
      for (std::uint64_t e = 0; e < operands[k].count; ++e)
        changed += std::memcmp(&first->second[k][e * size], &outputs[k][e * size], size) != 0;
    }
    records_[i].changed_outputs = changed;
  }

  static void interrupt(record& r) {
    r.state = status::interrupted;
    r.reason = "Ctrl-C";
  }

  contender contender_of(std::size_t i) {
    const row& r = what_.rows[i];
    // Shared by the two functions below: which set is next, and what a call took last.
    const auto set = std::make_shared<std::size_t>(0);
    const auto last_ns = std::make_shared<double>(0);
    contender c{r.id() + " @" + r.place(), [this, &r, set, last_ns](std::uint64_t calls) {
                  backend::queue& queue = r.on->queue();
                  queue.start_clock();
                  for (std::uint64_t k = 0; k < calls; ++k) run_row(r, *set);
                  const double ns = queue.stop_clock();
                  *last_ns = ns / static_cast<double>(calls);
                  return ns;
                }};
    c.one_call = how_.cold;
    if (r.on->info().name == "cpu:openmp") c.after = [] { std::this_thread::sleep_for(openmp_rest); };
    c.prepare = [this, &r, set, last_ns] {
      if (how_.cold) {
        *set = (*set + 1) % memory_.count();
        flusher_->flush();
      } else if (*last_ns < settle_below_ns) {
        run_row(r, 0);
        r.on->queue().finish();
      }
    };
    return c;
  }

  void time_rows() {
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (records_[i].state == status::ok) timed.push_back(i);
    if (timed.empty()) return;
    std::vector<contender> contenders;
    for (const std::size_t i : timed) contenders.push_back(contender_of(i));
    // The A/A pair: the first row of ours, or what there is, against itself.
    const auto ours = std::find_if(timed.begin(), timed.end(), [&](std::size_t i) {
      return what_.rows[i].variant != nullptr && what_.rows[i].variant->backend != "serial";
    });
    const std::size_t twice = static_cast<std::size_t>((ours != timed.end() ? ours : timed.begin()) - timed.begin());
    contenders.push_back(contender_of(timed[twice]));
    contenders.back().name += " again";
    const std::vector<series> taken = measure_in_rounds(contenders, how_.rule, how_.hooks);
    const auto noise = noise_between(taken[twice], taken.back());
    for (std::size_t c = 0; c < timed.size(); ++c) keep(timed[c], taken[c], noise);
  }

  void keep(std::size_t i, const series& taken, const std::optional<noise_floor>& noise) {
    record& r = records_[i];
    if (!taken.failure.empty()) return fail(r, taken.failure);
    if (taken.reason == stop_reason::interrupted) interrupt(r);
    r.time.kernel = taken;
    r.time.clock = clock_of(what_.rows[i]);
    r.what.threads = threads_of(what_.rows[i]);
    r.noise = noise;
  }

  bool is_timed(std::size_t i) const {
    const record& r = records_[i];
    return (r.state == status::ok || r.state == status::interrupted) && r.time.kernel && !r.time.kernel->ns.empty();
  }

  double rate_of(std::size_t i) const {
    const record& r = records_[i];
    return work_of(r.what, r.bound_by) / (summarize(r.time.kernel->ns).median * 1e-9);
  }

  /// The share of the limit's rate that row i has at least, by the interval of their ratio: noise alone shall make
  /// nothing implausible.
  double surest_share(std::size_t i, std::size_t limit) const {
    const record &mine = records_[i], &most = records_[limit];
    const summary faster = *ratio_of(most.time.kernel->ns, mine.time.kernel->ns);
    const double least = faster.ci95 ? faster.ci95->lo : faster.median;
    return least * work_of(mine.what, mine.bound_by) / work_of(most.what, most.bound_by);
  }

  /// Rates and ratios, once it is known which rows stayed right: nothing is compared with a wrong one.
  void derive() {
    std::optional<std::size_t> limit;
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (what_.rows[i].variant == nullptr && is_timed(i)) limit = i;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (!is_timed(i)) continue;
      record& mine = records_[i];
      if (limit) {
        mine.ceiling_per_s = rate_of(*limit);
        mine.plausible =
            i == *limit || is_plausible(what_.problem, {mine.what.order, surest_share(i, *limit), mine.device.cache});
      }
      for (std::size_t other = 0; other < records_.size(); ++other) {
        const row& to = what_.rows[other];
        if (other == i || !is_timed(other) || !to.is_default_tuning()) continue;
        if (const auto value = ratio_of(records_[other].time.kernel->ns, mine.time.kernel->ns))
          mine.ratios.push_back({to.id(), to.on->info().name, records_[other].what.tuning, *value});
      }
    }
  }

  const group& what_;
  const verified_case& inputs_;
  const measuring& how_;
  backend::queue& queue_;
  operand_sets memory_;
  double operations_of_limit_ = 0;
  std::optional<cache_flusher> flusher_;
  std::vector<record> records_;
  std::map<std::size_t, outputs_of_row> first_outputs_;  // of rows with an order of their own
};

}  // namespace

std::vector<record> measure_group(const group& what, const verified_case& inputs, const measuring& how) {
  try {
    return group_measurement(what, inputs, how).run();
  } catch (const error& failure) {
    const bool memory = failure.code() == errc::out_of_memory;
    return skip_group(what, how, memory ? status::skipped : status::failed,
                      (memory ? "memory: " : "") + std::string(failure.what()));
  }
}

std::vector<record> skip_group(const group& what, const measuring& how, status state, const std::string& reason) {
  std::vector<record> records;
  for (const row& r : what.rows) {
    record& result = records.emplace_back(begin_record(what, r, how));
    result.state = state;
    result.reason = reason;
  }
  return records;
}

std::string memory_shortage(const group& what, const measuring& how) {
  const device_info& info = what.rows.back().on->info();
  const bool shares_host = info.is_cpu;
  const std::uint64_t once = operand_bytes(what.problem);
  std::uint64_t on_device = once;
  if (how.cold) on_device = on_device * cold_sets + 2 * flush_bytes(info);
  // On the host: inputs, expected results, poison or results of one row.
  const std::uint64_t on_host = 2 * once + (shares_host ? on_device : 0);
  const auto shortage = [](const std::string& where, std::uint64_t need, std::uint64_t free) {
    return need <= free - free / 10 ? std::string()
                                    : "memory: " + where + " needs " + std::to_string(need >> 20) + " MiB and has " +
                                          std::to_string(free >> 20) + " MiB free; a tenth is left unused";
  };
  if (std::string reason = shortage("the host", on_host, io::available_host_memory()); !reason.empty()) return reason;
  return shares_host || info.memory == 0 ? "" : shortage(info.name, on_device, info.memory);
}

}  // namespace tilewise::lab
