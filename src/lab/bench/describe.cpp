// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/describe.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/device.hpp"
#include "lab/machine/environment.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"
#include "registry/tuned.hpp"

namespace tilewise::lab {

namespace {

/// Describes a limit. The number of multiply-adds is known only after they have run.
void describe_limit(const group& what, const row& r, measured& m) {
  if (record::is_arithmetic(ceiling_of(*r.variant))) {
    m.elements = 0;
    return;
  }
  m.result.what.bytes_min = copied_bytes(what.problem);
  // The number of the problem's elements that these bytes are.
  const double of_problem = what.problem.what->compulsory_bytes(what.problem);
  if (of_problem > 0 && m.unit == registry::speed_unit::elements) m.elements *= m.result.what.bytes_min / of_problem;
}

void describe_variant(const group& what, measured& m) {
  m.result.what.bytes_min = what.problem.what->compulsory_bytes(what.problem);
  m.result.what.operations = what.problem.what->operations(what.problem);
}

record::measured_case describe_case(const group& what, const row& r, const measuring& how) {
  const registry::problem& p = what.problem;
  record::measured_case c{.group = what.name(),
                          .algorithm = std::string(r.variant->algorithm),
                          .variant = r.id(),
                          .backend = std::string(r.variant->backend),
                          .name = std::string(r.variant->name),
                          .peer = r.variant->peer,
                          .order = r.variant->order,
                          .source = std::string(r.variant->source),
                          .dtype = std::string(name_of(p.type)),
                          .shape = {p.shape.size.begin(), p.shape.size.begin() + p.shape.rank},
                          .n = p.shape[0],
                          .settings = {},
                          .tuning = registry::to_string(r.tuning, r.variant->tuning),
                          .tuned_at = {},
                          .data = what.data(),
                          .seed = how.seed,
                          .threads = {},
                          .mode = std::string(name_of(how.what))};
  for (const auto& [name, word] : registry::named_settings(p)) c.settings.emplace(name, word);
  if (r.applied != nullptr) c.tuned_at.emplace(r.applied->time_utc);
  return c;
}

std::vector<record::published_time> times_of(const std::vector<const figure*>& figures) {
  std::vector<record::published_time> times;
  for (const figure* f : figures)
    times.push_back({std::string(f->system), std::string(f->machine), f->ns, f->with_transfers});
  return times;
}

record::experiment describe_experiment(const group& what, const measured& m) {
  const measured_size& size = *what.from->at(what.problem.shape);
  record::experiment e{.document = std::string(what.from->document),
                       .baseline = std::string(what.from->baseline),
                       .baseline_device = std::string(what.from->baseline_device),
                       .first_outputs = std::string(size.first_outputs),
                       .published = times_of(m.published),
                       .of_problem = {},
                       .system = {},
                       .differs = {},
                       .times_in_run = {},
                       .check = {},
                       .check_value = {}};
  if (const auto all = figures_at(*what.from, what.problem.shape); !all.empty()) e.of_problem.emplace(times_of(all));
  if (const method* repeated = method_of(*what.from, m.result.what.variant, m.place)) {
    e.system.emplace(repeated->system);
    if (!repeated->differs.empty()) e.differs.emplace(repeated->differs);
  }
  if (size.times_in_run > 0) e.times_in_run.emplace(size.times_in_run);
  return e;
}

}  // namespace

record::maybe_count threads_of(const row& r) {
  if (r.on->info().backend != "cpu") return std::nullopt;
  return static_cast<backend::cpu::queue&>(r.on->queue()).threads();
}

measured describe(const group& what, const row& r, const measuring& how) {
  measured m;
  m.result.device = device_facts(r.on->info());
  if (r.on->info().backend == "group") {
    const backend::group::group_facts facts = backend::group::facts_of(*r.on);
    m.result.device.name = sized_name(*r.on);
    record::ranks& ranks = m.result.ranks.emplace();
    ranks.number = facts.ranks;
    ranks.transport = facts.transport;
  }
  m.result.what = describe_case(what, r, how);
  m.result.timing.emplace().clock_resolution_ns = static_cast<std::uint64_t>(clock_resolution_ns());
  m.place = r.place();
  m.tuning_changes = registry::changes_of(r.tuning, r.variant->tuning);
  // A job is compared with moving its data, whatever its kernel does.
  m.unit = is_whole_job(how.what) ? registry::speed_unit::bytes : what.problem.what->speed_in;
  if (what.problem.shape.rank == 1)
    m.elements = static_cast<double>(what.problem.n());
  else if (m.unit == registry::speed_unit::elements)  // of all rows of a matrix, or of all segments
    m.elements = static_cast<double>(what.problem.what->outputs(what.problem)[0].count);
  if (is_limit(*r.variant) && !is_whole_job(how.what))
    describe_limit(what, r, m);
  else
    describe_variant(what, m);
  m.from = what.from;
  if (what.from != nullptr) {
    m.published = figures_of(*what.from, what.problem.shape, r.id(), m.place, m.result.what.tuning);
    m.result.experiment = describe_experiment(what, m);
  }
  if (!r.skip.empty()) m.end(record::status::skipped, r.skip);
  return m;
}

std::vector<measured> describe_unmeasured(const group& what, const measuring& how, record::status state,
                                          const std::string& reason) {
  std::vector<measured> all;
  for (const row& r : what.rows) all.emplace_back(describe(what, r, how)).end(state, reason);
  return all;
}

std::vector<measured> describe_shortage(const group& what, const measuring& how, const std::string& reason) {
  std::vector<measured> all = describe_unmeasured(what, how, record::status::skipped, "memory: " + reason);
  for (measured& m : all) m.failure = errc::out_of_memory;
  return all;
}

}  // namespace tilewise::lab
