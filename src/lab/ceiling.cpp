#include "lab/ceiling.hpp"

namespace tilewise::lab {

using registry::total_bytes;

ceiling ceiling_of(registry::speed_unit unit) {
  return unit == registry::speed_unit::operations ? ceiling::fma : ceiling::copy;
}

double copied_bytes(const registry::problem& p) { return 2.0 * static_cast<double>(p.what->inputs(p).front().bytes()); }

bool is_plausible(const registry::problem& p, const claimed_speed& what) {
  if (ceiling_of(p.what->speed_in) == ceiling::fma)
    return what.order == registry::claim::own || what.share_of_ceiling <= 1.05;
  if (copied_bytes(p) <= static_cast<double>(what.cache_bytes)) return true;
  const double in = total_bytes(p.what->inputs(p)), out = total_bytes(p.what->outputs(p));
  const double moved_per_counted = (in + 2 * out) / (in + out);
  return what.share_of_ceiling <= 1.05 * 1.5 / moved_per_counted;
}

}  // namespace tilewise::lab
