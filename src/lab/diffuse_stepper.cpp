#include "lab/diffuse_stepper.hpp"

#include "diffuse/diffuse_problem.hpp"
#include "lab/clock.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::lab {

/// So long a part is, within a factor of two: progress and Ctrl-C are prompt.
constexpr double part_s = 0.2;

diffuse_stepper::diffuse_stepper(diffuse_state start, const registry::choice& how, backend::queue& queue)
    : state_(std::move(start)),
      how_(how),
      queue_(queue),
      first_(queue, state_.field.size()),
      second_(queue, state_.field.size()),
      now_(first_),
      next_(second_) {
  queue.upload(now_, state_.field.data(), state_.field.size());
}

void diffuse_stepper::advance(std::uint64_t stop, const std::function<bool()>& goes_on) {
  for (bool more = true; more && state_.step < stop; more = goes_on()) {
    const std::uint64_t part = std::min(part_, stop - state_.step);
    const std::int64_t started = now_ns();
    take(part);
    const double taken = static_cast<double>(now_ns() - started) * 1e-9;
    seconds_ += taken;
    state_.count(part);
    if (part == part_ && taken < part_s / 2) part_ *= 2;
    if (part_ > 1 && taken > 2 * part_s) part_ /= 2;
  }
  queue_.download(state_.field.data(), now_, state_.field.size());
}

void diffuse_stepper::take(std::uint64_t steps) {
  registry::memories where;
  where.in[0] = now_;
  where.out[0] = next_;
  const registry::problem problem = impl::diffuse::problem_of(state_.parameters.problem(steps), state_.type);
  how_.variant->run(problem, where, how_.tuning, queue_);
  queue_.finish();
  std::swap(now_, next_);
}

}  // namespace tilewise::lab
