// The only file that rejects a call of skeleton: checks, chooses, runs.
#include "_skeleton/skeleton.hpp"

#include "_skeleton/skeleton_problem.hpp"
#include "backend/backend.hpp"
#include "backend/instantiate.hpp"
#include "registry/execute.hpp"

namespace tilewise {

template <scalar T>
void skeleton(std::span<const T> in, std::span<T> out, const skeleton_options& options) {
  if (in.size() != out.size())
    throw error(errc::invalid_argument, "the output of skeleton has the size of its input: " +
                                            std::to_string(in.size()) + " elements, not " + std::to_string(out.size()));
  const registry::problem p{.what = &impl::skeleton::skeleton_algorithm(), .type = dtype_of<T>, .shape = {in.size()}};
  registry::check(p);
  const device on = options.device ? *options.device : open("cpu");
  const registry::choice how = registry::choose(p, on.implementation(), {options.variant, options.tuning});
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  registry::execute_on_host(p, how, on.implementation().queue(), inputs, outputs);
}

#define TILEWISE_INSTANTIATE(T) template void skeleton<T>(std::span<const T>, std::span<T>, const skeleton_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
