// SPDX-License-Identifier: Apache-2.0
// The public functions of skeleton: check what only their arguments show, describe the problem, call registry/call.
#include "_skeleton/skeleton.hpp"

#include "_skeleton/problem.hpp"
#include "base/instantiate.hpp"
#include "registry/call.hpp"

namespace tilewise {

namespace {

template <class T>
registry::problem describe(std::uint64_t in, std::uint64_t out) {
  if (in != out)
    throw error(errc::invalid_argument, "the output of skeleton must have the size of its input: " +
                                            std::to_string(in) + " elements, not " + std::to_string(out));
  return {.what = &impl::skeleton::skeleton_algorithm(), .type = dtype_of<T>, .shape = {in}};
}

}  // namespace

template <scalar T>
void skeleton(std::span<const T> in, std::span<T> out, const skeleton_options& options) {
  registry::run_call(describe<T>(in.size(), out.size()), options, {{"the input", in}}, {{"the output", out}});
}

template <scalar T>
void skeleton(const array<T>& in, array<T>& out, const skeleton_options& options) {
  registry::run_call(describe<T>(in.size(), out.size()), options, {{"the input", in}}, {{"the output", out}});
}

#define TILEWISE_INSTANTIATE(T)                                                         \
  template void skeleton<T>(std::span<const T>, std::span<T>, const skeleton_options&); \
  template void skeleton<T>(const array<T>&, array<T>&, const skeleton_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
