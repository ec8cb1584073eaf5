#include "lab/describe.hpp"

#include "lab/limit.hpp"

namespace tilewise::lab {

namespace {

/// The operations of the multiply-adds are known when they have run.
void describe_limit(const group& what, case_facts& c) {
  if (ceiling_of(*what.problem.what) == ceiling::fma) return;
  c.bytes_min = copied_bytes(what.problem);
  // The elements of the problem that as many bytes are.
  const double of_problem = what.problem.what->compulsory_bytes(what.problem);
  if (of_problem > 0 && c.unit == registry::speed_unit::elements) c.elements *= c.bytes_min / of_problem;
}

void describe_variant(const group& what, case_facts& c) {
  c.bytes_min = what.problem.what->compulsory_bytes(what.problem);
  c.operations = what.problem.what->operations(what.problem);
}

case_facts describe_case(const group& what, const row& r, const measuring& how) {
  const registry::problem& p = what.problem;
  case_facts c;
  c.group = what.name();
  c.algorithm = r.variant->algorithm;
  c.variant = r.id();
  c.place = r.place();
  c.backend = r.variant->backend;
  c.name = r.variant->name;
  c.peer = r.variant->peer;
  c.order = r.variant->order;
  c.source = r.variant->source;
  c.tuning = registry::to_string(r.tuning, r.variant->tuning);
  c.tuning_changes = registry::changes_of(r.tuning, r.variant->tuning);
  c.type = p.type;
  c.shape = p.shape;
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    c.settings.emplace_back(p.what->settings[i].name, p.what->settings[i].values[p.setting[i]]);
  c.data = what.data();
  c.seed = how.seed;
  c.cold = how.cold;
  c.unit = p.what->speed_in;
  c.elements = p.shape.rank == 1 ? static_cast<double>(p.n()) : 0;
  (is_limit(*r.variant) ? describe_limit : describe_variant)(what, c);
  return c;
}

}  // namespace

record describe(const group& what, const row& r, const measuring& how) {
  record result;
  result.device = r.on->info();
  result.bound_by = ceiling_of(*what.problem.what);
  result.what = describe_case(what, r, how);
  result.from = what.from;
  if (what.from != nullptr) result.published = figures_of(*what.from, what.problem.shape, r.id(), r.place());
  if (!r.skip.empty()) {
    result.state = status::skipped;
    result.reason = r.skip;
  }
  return result;
}

std::vector<record> describe_unmeasured(const group& what, const measuring& how, status state,
                                        const std::string& reason) {
  std::vector<record> records;
  for (const row& r : what.rows) {
    record& result = records.emplace_back(describe(what, r, how));
    result.state = state;
    result.reason = reason;
  }
  return records;
}

}  // namespace tilewise::lab
