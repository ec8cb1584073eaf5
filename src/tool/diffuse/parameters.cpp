// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/parameters.hpp"

#include "base/number.hpp"
#include "diffuse/problem.hpp"
#include "io/host_memory.hpp"
#include "io/png.hpp"

#include <algorithm>

namespace tilewise::hiperc {

double parameters::time_step() const {
  const double shorter = std::min(dx, dy);
  return co * shorter * shorter / (4.0 * dc);
}

diffusion parameters::problem(std::uint64_t steps) const {
  const std::uint64_t all = 2 * ghosts();
  if (nx <= all || ny <= all)
    throw error(errc::invalid_argument, "a grid of " + std::to_string(nx) + "x" + std::to_string(ny) +
                                            " points is nothing but ghosts; mask " + std::to_string(mask) + " takes " +
                                            std::to_string(ghosts()) + " on each side, so nx and ny must be at least " +
                                            std::to_string(all + 1));
  return {.rows = ny - all,
          .columns = nx - all,
          .steps = steps,
          .mask = mask,
          .dx = dx,
          .dy = dy,
          .rate = time_step() * dc};
}

registry::problem parameters::problem(std::uint64_t steps, dtype type) const {
  return impl::diffuse::problem_of(problem(steps), type);
}

double parameters::largest_stable_co() const { return largest_stable_rate(problem(1)) / problem(1).rate * co; }

void require_room(const parameters& p, dtype type) {
  const diffusion d = p.problem(0);
  io::require_picture(p.nx - 2, p.ny - 2);  // the original leaves out one ring of points
  const std::uint64_t points = d.rows * d.columns;
  // The field; two more and a workspace, which the pool keeps, on a CPU device; a picture, and its file with room for
  // what does not compress.
  const std::uint64_t bytes = points * (4 * size_of(type) + 3);
  io::require_host_memory(bytes, "a grid of " + std::to_string(p.nx) + "x" + std::to_string(p.ny) +
                                     " points and its files need " + std::to_string(bytes) + " bytes");
}

void require_stable(const parameters& p) {
  const double limit = p.largest_stable_co();
  const auto text = [](double value) { return base::to_string(base::scalar_value::of(value)); };
  if (p.co > limit)
    throw error(errc::invalid_argument, "co = " + text(p.co) + " is unstable with mask " + std::to_string(p.mask) +
                                            ": the limit is " + text(limit) +
                                            "; take a smaller one, or --allow-unstable");
}

}  // namespace tilewise::hiperc
