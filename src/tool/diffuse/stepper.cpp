// SPDX-License-Identifier: Apache-2.0
#include "tool/diffuse/stepper.hpp"

#include "backend/group/device.hpp"
#include "call/execute.hpp"
#include "diffuse/problem.hpp"
#include "lab/time/clock.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::hiperc {

/// The length of a part, within a factor of two: short, so that progress and Ctrl-C are prompt.
constexpr double part_s = 0.2;

namespace {

using backend::group::over_processes;
using impl::diffuse::fits;
using impl::diffuse::steps_of_a_pass;

registry::problem problem_of(const snapshot& at, std::uint64_t steps) { return at.parameters.problem(steps, at.type); }

std::uint64_t row_bytes(const snapshot& of) { return of.parameters.problem(0).columns * size_of(of.type); }

}  // namespace

stepper::stepper(snapshot start, const registry::choice& how, backend::queue& queue)
    : reached_(std::move(start)),
      how_(how),
      queue_(queue),
      is_on_device_(queue.transfers() == nullptr || fits(problem_of(reached_, 0), queue.device().info())),
      first_(queue, is_on_device_ ? reached_.field.size() : 0, row_bytes(reached_)),
      second_(queue, is_on_device_ ? reached_.field.size() : 0, row_bytes(reached_)),
      now_(first_),
      next_(second_),
      part_(is_on_device_ ? 16 : steps_of_a_pass(problem_of(reached_, 0), queue.device().info())) {
  if (is_on_device_)
    queue.upload(now_, reached_.field.data(), reached_.field.size());
  else
    next_on_host_.resize(reached_.field.size());
}

bool stepper::advance(std::uint64_t stop, const std::function<bool()>& goes_on) {
  bool more = true;
  while (more && reached_.step < stop) {
    const std::uint64_t part = std::min(part_, stop - reached_.step);
    const std::int64_t started = lab::now_ns();
    take(part);
    const double taken = static_cast<double>(lab::now_ns() - started) * 1e-9;
    seconds_ += taken;
    reached_.count(part);
    const pace next = common_pace(queue_, {next_part(part, taken), goes_on()});
    part_ = next.part, more = next.goes_on;
  }
  if (is_on_device_) queue_.download(reached_.field.data(), now_, reached_.field.size());
  return more;
}

std::uint64_t stepper::next_part(std::uint64_t last, double taken_s) const {
  if (!is_on_device_) return part_;  // a pass takes about as long as its transfers
  if (last == part_ && taken_s < part_s / 2) return 2 * part_;
  return part_ > 1 && taken_s > 2 * part_s ? part_ / 2 : part_;
}

void stepper::take(std::uint64_t steps) {
  const registry::problem problem = problem_of(reached_, steps);
  is_on_device_ ? step_on_device(problem) : step_on_host(problem);
}

void stepper::step_on_host(const registry::problem& p) {
  const void* const from = reached_.field.data();
  void* const to = next_on_host_.data();
  call::run_on_host(p, how_, queue_, {&from, 1}, {&to, 1});
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

bool writes_files(backend::queue& queue) {
  const auto* const all = over_processes(queue);
  return all == nullptr || all->first_rank() == 0;
}

pace common_pace(backend::queue& queue, pace own) {
  auto* const all = over_processes(queue);
  if (all == nullptr) return own;
  pace common = own;
  all->on_each_rank([&](const backend::group::rank& r) {
    const std::vector<pace> paces = r.all_gather(own);
    common.part = paces.front().part;
    common.goes_on = std::all_of(paces.begin(), paces.end(), [](const pace& one) { return one.goes_on; });
  });
  return common;
}

}  // namespace tilewise::hiperc
