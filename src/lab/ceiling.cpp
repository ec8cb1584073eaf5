#include "lab/ceiling.hpp"

namespace tilewise::lab {

namespace {

double total_bytes(const std::vector<registry::operand>& operands) {
  double bytes = 0;
  for (const registry::operand& o : operands) bytes += static_cast<double>(o.bytes());
  return bytes;
}

}  // namespace

double copied_bytes(const registry::problem& p) { return 2.0 * static_cast<double>(p.what->inputs(p).front().bytes()); }

bool is_plausible(const registry::problem& p, double share_of_copy, std::uint64_t cache_bytes) {
  if (copied_bytes(p) <= static_cast<double>(cache_bytes)) return true;
  const double in = total_bytes(p.what->inputs(p)), out = total_bytes(p.what->outputs(p));
  const double moved_per_counted = (in + 2 * out) / (in + out);
  return share_of_copy <= 1.05 * 1.5 / moved_per_counted;
}

}  // namespace tilewise::lab
