// SPDX-License-Identifier: Apache-2.0
#include "call/execute.hpp"

#include "divide/pieces.hpp"

namespace tilewise::call {

void admit(const problem& p, const preferences& wanted) {
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    if (p.setting[i] >= p.what->settings[i].values.size())
      throw error(errc::invalid_argument, std::string(p.what->name) + " has no " +
                                              std::string(p.what->settings[i].name) + " number " +
                                              std::to_string(p.setting[i]));
  std::string reason = p.what->invalid(p);
  if (reason.empty() && !wanted.allow_unstable) reason = p.what->inadvisable(p);
  if (!reason.empty()) throw error(errc::invalid_argument, reason);
}

bool is_in_doubt(const problem& p, const bindings& where, backend::queue& queue) {
  return p.what->proves != nullptr && p.what->proves->is_needed(p, where, queue);
}

host_run::host_run(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                   std::span<void* const> outputs)
    : problem_(p), how_(how), queue_(queue), inputs_(inputs), outputs_(outputs), operands_(p, queue, inputs, outputs) {}

void host_run::upload() {
  operands_.upload(inputs_);
  operands_.upload_gaps(outputs_);
}

void host_run::run() {
  const bool in_doubt = is_in_doubt(problem_, operands_.where(), queue_);
  if (in_doubt) operands_.keep_results_apart();
  how_.variant->run(problem_, operands_.where(), how_.tuning, queue_);
  if (in_doubt) problem_.what->proves->require(problem_, operands_.where(), queue_);
}

void host_run::download() { operands_.download(outputs_); }

void run_on_host(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                 std::span<void* const> outputs, double* computing_ns) {
  if (divide::runs_in_pieces(p, how, queue))
    return p.what->divides->run(p, how, queue, {inputs, outputs, computing_ns});
  host_run whole(p, how, queue, inputs, outputs);
  whole.upload();
  whole.run();
  whole.download();
}

void run_in_place(const problem& p, const choice& how, backend::queue& queue, const bindings& where) {
  const bool in_doubt = is_in_doubt(p, where, queue);
  how.variant->run(p, where, how.tuning, queue);
  if (in_doubt) p.what->proves->require(p, where, queue);
}

}  // namespace tilewise::call
