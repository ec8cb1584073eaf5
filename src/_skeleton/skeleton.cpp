// SPDX-License-Identifier: Apache-2.0
// The public function of skeleton: checks what only its arguments show, describes the problem, calls registry/call.
#include "_skeleton/skeleton.hpp"

#include "_skeleton/skeleton_problem.hpp"
#include "base/instantiate.hpp"
#include "registry/call.hpp"

namespace tilewise {

template <scalar T>
void skeleton(std::span<const T> in, std::span<T> out, const skeleton_options& options) {
  if (in.size() != out.size())
    throw error(errc::invalid_argument, "the output of skeleton must have the size of its input: " +
                                            std::to_string(in.size()) + " elements, not " + std::to_string(out.size()));
  const registry::problem p{.what = &impl::skeleton::skeleton_algorithm(), .type = dtype_of<T>, .shape = {in.size()}};
  registry::run_call(p, options, {{"the input", in}}, {{"the output", out}});
}

#define TILEWISE_INSTANTIATE(T) template void skeleton<T>(std::span<const T>, std::span<T>, const skeleton_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
