#include "hiperc/hiperc_stepper.hpp"

#include "lab/clock.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::hiperc {

/// How long a part takes, within a factor of two: so progress and Ctrl-C are prompt.
constexpr double part_s = 0.2;

stepper::stepper(snapshot start, const registry::choice& how, backend::queue& queue)
    : reached_(std::move(start)),
      how_(how),
      queue_(queue),
      first_(queue, reached_.field.size()),
      second_(queue, reached_.field.size()),
      now_(first_),
      next_(second_) {
  queue.upload(now_, reached_.field.data(), reached_.field.size());
}

void stepper::advance(std::uint64_t stop, const std::function<bool()>& goes_on) {
  for (bool more = true; more && reached_.step < stop; more = goes_on()) {
    const std::uint64_t part = std::min(part_, stop - reached_.step);
    const std::int64_t started = lab::now_ns();
    take(part);
    const double taken = static_cast<double>(lab::now_ns() - started) * 1e-9;
    seconds_ += taken;
    reached_.count(part);
    if (part == part_ && taken < part_s / 2) part_ *= 2;
    if (part_ > 1 && taken > 2 * part_s) part_ /= 2;
  }
  queue_.download(reached_.field.data(), now_, reached_.field.size());
}

void stepper::take(std::uint64_t steps) {
  registry::bindings where;
  where.in[0] = now_;
  where.out[0] = next_;
  const registry::problem problem = reached_.parameters.problem(steps, reached_.type);
  how_.variant->run(problem, where, how_.tuning, queue_);
  queue_.finish();
  std::swap(now_, next_);
}

}  // namespace tilewise::hiperc
