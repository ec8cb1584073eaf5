#include "lab/bench.hpp"

#include "lab/problems.hpp"

namespace tilewise::lab {

namespace {

bool same_problem(const registry::problem& a, const registry::problem& b) {
  return a.what == b.what && a.type == b.type && a.shape == b.shape && a.setting == b.setting && a.number == b.number;
}

}  // namespace

void run_bench(std::span<const group> plan, const measuring& how, const bench_events& events) {
  std::optional<verified_case> inputs;
  measuring with = how;
  for (std::size_t i = 0; i < plan.size() && !how.hooks.interrupted(); ++i) {
    const group& current = plan[i];
    events.before_group(current, i);
    if (inputs && !same_problem(inputs->problem, current.problem)) inputs.reset();
    with.data = data_for(current.problem);
    std::vector<record> records;
    if (const std::string shortage = memory_shortage(current, with); !shortage.empty()) {
      records = skip_group(current, with, status::skipped, shortage);
    } else {
      if (!inputs) inputs = make_case(current.problem, with.data, with.seed);
      records = measure_group(current, *inputs, with);
    }
    for (const record& r : records) events.on_record(r);
  }
}

}  // namespace tilewise::lab
