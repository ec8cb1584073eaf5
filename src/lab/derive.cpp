#include "lab/derive.hpp"

#include "lab/limit.hpp"

namespace tilewise::lab {

namespace {

bool is_timed(const record& r) {
  return (r.state == status::ok || r.state == status::interrupted) && r.time.kernel && !r.time.kernel->ns.empty();
}

double rate_of(const record& r) { return work_of(r.what, r.bound_by) / (summarize(r.time.kernel->ns).median * 1e-9); }

/// The share of the limit's rate that a row has at least, by the interval of their ratio: noise alone shall make
/// nothing implausible.
double surest_share(const record& mine, const record& limit) {
  const summary faster = *ratio_of(limit.time.kernel->ns, mine.time.kernel->ns);
  const double least = faster.ci95 ? faster.ci95->lo : faster.median;
  return least * work_of(mine.what, mine.bound_by) / work_of(limit.what, limit.bound_by);
}

void hold_against(const record& limit, const registry::problem& p, record& mine) {
  mine.ceiling_per_s = rate_of(limit);
  mine.plausible = &mine == &limit || is_plausible(p, {mine.what.order, surest_share(mine, limit), mine.device.cache});
}

}  // namespace

void derive(const group& what, std::span<record> records) {
  const record* limit = nullptr;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (is_limit(*what.rows[i].variant) && is_timed(records[i])) limit = &records[i];
  for (record& mine : records) {
    if (!is_timed(mine)) continue;
    if (limit != nullptr) hold_against(*limit, what.problem, mine);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const row& to = what.rows[i];
      if (&records[i] == &mine || !is_timed(records[i]) || !to.is_default_tuning()) continue;
      if (const auto value = ratio_of(records[i].time.kernel->ns, mine.time.kernel->ns))
        mine.ratios.push_back({to.id(), to.on->info().name, records[i].what.tuning, *value});
    }
  }
}

}  // namespace tilewise::lab
