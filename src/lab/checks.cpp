#include "lab/checks.hpp"

#include "lab/clock.hpp"
#include "lab/limit.hpp"

#include <cstring>

namespace tilewise::lab {

namespace {

/// The copy's work is known from the problem, that of the multiply-adds only from a call.
void note_operations(const row& r, record& result) {
  if (result.bound_by != ceiling::fma) return;
  result.what.operations = r.on->queue().multiply_add(result.what.type);
  if (result.what.operations > 0) return;
  result.state = status::skipped;
  result.reason = "this device's backend has no multiply-adds of this type to measure";
}

}  // namespace

void run_row(const row& r, const registry::problem& p, const operand_sets& memory, std::size_t set) {
  r.variant->run(p, is_limit(*r.variant) ? memory.copied(set) : memory.set(set), r.tuning, r.on->queue());
}

void checks::check(const row& r, record& result) {
  const bool is_first = !result.time.first_call_ns;
  memory_.poison_outputs();
  r.on->queue().finish();
  const std::int64_t started = now_ns();
  run_row(r, inputs_.problem, memory_, 0);
  r.on->queue().finish();
  if (is_first) result.time.first_call_ns = static_cast<double>(now_ns() - started);
  if (is_limit(*r.variant)) return is_first ? note_operations(r, result) : void();
  const registry::host_operands outputs = memory_.download_outputs();
  result.verified = compare(inputs_, *r.variant, outputs);
  if (r.variant->order == registry::claim::own) note_changes(r, outputs, result);
  result.reference = inputs_.reference;
  result.reference_digest = inputs_.expected_digest;
  if (result.verified->ok) return;
  result.state = status::wrong;
  result.reason = is_first ? "the result differs from the definition's"
                           : "the result was right before the timing and differs after it";
  result.time = {};
}

/// What has an order of its own may have another one in the next run: the last outputs against the first ones.
void checks::note_changes(const row& r, const registry::host_operands& outputs, record& result) {
  const auto [first, is_new] = first_outputs_.emplace(&r, outputs);
  if (is_new) return;
  const std::vector<registry::operand> operands = inputs_.problem.what->outputs(inputs_.problem);
  std::uint64_t changed = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::size_t size = size_of(operands[k].type);
    for (std::uint64_t e = 0; e < operands[k].count; ++e)
      changed += std::memcmp(&first->second[k][e * size], &outputs[k][e * size], size) != 0;
  }
  result.changed_outputs = changed;
}

}  // namespace tilewise::lab
