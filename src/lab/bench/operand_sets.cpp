// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/operand_sets.hpp"

namespace tilewise::lab {

std::uint64_t operand_bytes(const registry::problem& p) {
  std::uint64_t bytes = p.what->inputs(p).front().bytes();
  for (const auto& o : p.what->inputs(p)) bytes += o.bytes();
  for (const auto& o : p.what->outputs(p)) bytes += o.bytes();
  return bytes;
}

operand_sets::operand_sets(const verified_case& inputs, backend::queue& queue, unsigned count) : case_(inputs) {
  for (unsigned s = 0; s < count; ++s)
    sets_.emplace_back(inputs.problem, queue).upload(registry::pointers_to(inputs.inputs));
  const std::uint64_t bytes = inputs.inputs.front().size();
  if (inputs.expected.front().size() < bytes) own_target_.emplace(queue, bytes);
  const backend::memory target = own_target_ ? *own_target_ : sets_.front().where().out[0];
  for (const registry::operands& s : sets_)
    copied_.push_back({.in = {s.where().in[0].at(0, bytes)}, .out = {target.at(0, bytes)}});
  poison_outputs();
}

registry::host_operands operand_sets::download_outputs() const {
  registry::host_operands outputs;
  for (const auto& expected : case_.expected) outputs.emplace_back(expected.size());
  sets_.front().download(registry::pointers_to(outputs));
  return outputs;
}

}  // namespace tilewise::lab
