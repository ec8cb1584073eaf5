#include "hiperc/hiperc_stepper.hpp"

#include "diffuse/diffuse_pieces.hpp"
#include "lab/clock.hpp"
#include "registry/execute.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::hiperc {

/// How long a part takes, within a factor of two: so progress and Ctrl-C are prompt.
constexpr double part_s = 0.2;

namespace {

using impl::diffuse::fits;
using impl::diffuse::steps_of_a_pass;

registry::problem problem_of(const snapshot& at, std::uint64_t steps) { return at.parameters.problem(steps, at.type); }

}  // namespace

stepper::stepper(snapshot start, const registry::choice& how, backend::queue& queue)
    : reached_(std::move(start)),
      how_(how),
      queue_(queue),
      is_on_device_(queue.transfers() == nullptr || fits(problem_of(reached_, 0), queue.device().info())),
      first_(queue, is_on_device_ ? reached_.field.size() : 0),
      second_(queue, is_on_device_ ? reached_.field.size() : 0),
      now_(first_),
      next_(second_),
      part_(is_on_device_ ? 16 : steps_of_a_pass(problem_of(reached_, 0), queue.device().info())) {
  if (is_on_device_)
    queue.upload(now_, reached_.field.data(), reached_.field.size());
  else
    next_on_host_.resize(reached_.field.size());
}

void stepper::advance(std::uint64_t stop, const std::function<bool()>& goes_on) {
  for (bool more = true; more && reached_.step < stop; more = goes_on()) {
    const std::uint64_t part = std::min(part_, stop - reached_.step);
    const std::int64_t started = lab::now_ns();
    take(part);
    const double taken = static_cast<double>(lab::now_ns() - started) * 1e-9;
    seconds_ += taken;
    reached_.count(part);
    if (!is_on_device_) continue;  // a pass takes as long as its transfers
    if (part == part_ && taken < part_s / 2) part_ *= 2;
    if (part_ > 1 && taken > 2 * part_s) part_ /= 2;
  }
  if (is_on_device_) queue_.download(reached_.field.data(), now_, reached_.field.size());
}

void stepper::take(std::uint64_t steps) {
  const registry::problem problem = problem_of(reached_, steps);
  is_on_device_ ? step_on_device(problem) : step_on_host(problem);
}

void stepper::step_on_host(const registry::problem& p) {
  const void* const from = reached_.field.data();
  void* const to = next_on_host_.data();
  registry::run_on_host(p, how_, queue_, {&from, 1}, {&to, 1});
  std::swap(reached_.field, next_on_host_);
}

void stepper::step_on_device(const registry::problem& p) {
  registry::bindings where;
  where.in[0] = now_;
  where.out[0] = next_;
  how_.variant->run(p, where, how_.tuning, queue_);
  queue_.finish();
  std::swap(now_, next_);
}

}  // namespace tilewise::hiperc
