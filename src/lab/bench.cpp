#include "lab/bench.hpp"

namespace tilewise::lab {

namespace {

bool same_problem(const registry::problem& a, const registry::problem& b) {
  return a.what == b.what && a.type == b.type && a.shape == b.shape && a.setting == b.setting && a.number == b.number;
}

}  // namespace

void run_bench(std::span<const group> plan, const measuring& how, const bench_events& events) {
  std::optional<verified_case> inputs;
  for (std::size_t i = 0; i < plan.size() && !how.hooks.interrupted(); ++i) {
    const group& current = plan[i];
    events.before_group(current, i);
    if (inputs && !same_problem(inputs->problem, current.problem)) inputs.reset();
    std::vector<record> records;
    if (const std::string shortage = memory_shortage(current, how); !shortage.empty()) {
      records = skip_group(current, how, status::skipped, shortage);
    } else {
      if (!inputs) inputs = make_case(current.problem, how.data, how.seed);
      records = measure_group(current, *inputs, how);
    }
    for (const record& r : records) events.on_record(r);
  }
}

}  // namespace tilewise::lab
