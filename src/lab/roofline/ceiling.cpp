// SPDX-License-Identifier: Apache-2.0
#include "lab/roofline/ceiling.hpp"

namespace tilewise::lab {

using registry::speed_unit;
using registry::total_bytes;

std::optional<ceiling> arithmetic_of(const registry::algorithm& what) {
  if (what.speed_in == speed_unit::elements) return std::nullopt;
  return what.fuses ? ceiling::fma : ceiling::muladd;
}

std::vector<ceiling> ceilings_of(const registry::problem& p) {
  constexpr double least_operations_per_byte = 1;
  const std::optional<ceiling> arithmetic = arithmetic_of(*p.what);
  if (p.what->speed_in == speed_unit::operations) return {*arithmetic};
  const bool may_compute = p.what->operations(p) > least_operations_per_byte * p.what->compulsory_bytes(p);
  if (!arithmetic || !may_compute) return {ceiling::copy};
  return {ceiling::copy, *arithmetic};
}

double copied_bytes(const registry::problem& p) { return 2.0 * static_cast<double>(p.what->inputs(p).front().bytes()); }

bool is_plausible(const registry::problem& p, const claimed_speed& what) {
  if (record::is_arithmetic(what.bound_by))
    return what.order == registry::claim::own || p.what->has_shorter_methods || what.share_of_ceiling <= 1.05;
  if (copied_bytes(p) <= static_cast<double>(what.cache_bytes)) return true;
  const double in = total_bytes(p.what->inputs(p)), out = total_bytes(p.what->outputs(p));
  const double moved_per_counted = (in + 2 * out) / (in + out);
  return what.share_of_ceiling <= 1.05 * 1.5 / moved_per_counted;
}

}  // namespace tilewise::lab
