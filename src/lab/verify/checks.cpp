// SPDX-License-Identifier: Apache-2.0
#include "lab/verify/checks.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/peer_call.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"

#include <cstring>

namespace tilewise::lab {

namespace {

/// The copy's work follows from the problem. The number of multiply-adds is known only after a call.
void note_operations(const row& r, dtype type, measured& m) {
  if (!record::is_arithmetic(ceiling_of(*r.variant))) return;
  m.result.what.operations = operations_of(ceiling_of(*r.variant), type, r.on->queue());
  if (m.result.what.operations > 0) return;
  m.end(record::status::skipped, "this device's backend has no multiply-adds of this type to measure");
}

}  // namespace

record::verification verification_of(const verified_case& inputs, registry::claim order, const verdict& v) {
  record::verification told{.ok = v.ok,
                            .method = order == registry::claim::tilewise ? "digest" : "tolerance",
                            .digest = v.digest,
                            .reference = inputs.reference,
                            .reference_digest = inputs.expected_digest,
                            .mismatches = v.mismatches,
                            .max_relative_error = v.max_relative_error,
                            .changed_outputs = {},
                            .first_mismatch = {}};
  if (v.first) told.first_mismatch = {v.first->operand, v.first->index, v.first->expected, v.first->got};
  return told;
}

std::string why_wrong(bool is_first) {
  return is_first ? "the result differs from the definition's"
                  : "the result was right before the timing and differs after it";
}

void run_row(const row& r, const registry::problem& p, const operand_sets& memory, std::size_t set) {
  run_variant(r, p, is_limit(*r.variant) ? memory.copied(set) : memory.set(set));
}

void checks::check(const row& r, measured& m) {
  record::timing& timing = *m.result.timing;
  const bool is_first = !timing.first_call_ns;
  memory_.poison_outputs();
  r.on->queue().finish();
  const std::int64_t started = now_ns();
  run_row(r, inputs_.problem, memory_, 0);
  r.on->queue().finish();
  if (is_first) timing.first_call_ns = static_cast<double>(now_ns() - started);
  if (is_limit(*r.variant)) return is_first ? note_operations(r, inputs_.problem.type, m) : void();
  const call::host_operands outputs = memory_.download_outputs();
  auto& verify =
      m.result.verify.emplace(verification_of(inputs_, r.variant->order, compare(inputs_, *r.variant, outputs)));
  if (r.variant->order == registry::claim::own) note_changes(r, outputs, verify);
  if (as_first_rank(verify.ok ? 1 : 0) != 0) return;
  m.end(record::status::wrong, why_wrong(is_first));
}

/// Compares the last outputs with the first, since a variant with its own order may use another order in each run.
void checks::note_changes(const row& r, const call::host_operands& outputs, record::verification& to) {
  const auto [first, is_new] = first_outputs_.emplace(&r, outputs);
  if (is_new) return;
  const std::vector<registry::operand> operands = inputs_.problem.what->outputs(inputs_.problem);
  std::uint64_t changed = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::size_t size = size_of(operands[k].type);
    for (std::uint64_t e = 0; e < operands[k].count; ++e)
      changed += std::memcmp(&first->second[k][e * size], &outputs[k][e * size], size) != 0;
  }
  to.changed_outputs = changed;
}

}  // namespace tilewise::lab
