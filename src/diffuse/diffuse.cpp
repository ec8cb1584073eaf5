// SPDX-License-Identifier: Apache-2.0
// The public functions of diffuse: check what only their arguments show, describe the problem, call registry/call.
#include <tilewise/diffuse.hpp>

#include "base/enter.hpp"
#include "diffuse/problem.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise {

namespace {

registry::problem describe(const diffusion& d, dtype type, const registry::preferences& wanted) {
  const registry::problem p = impl::diffuse::problem_of(d, type);
  registry::admit(p, wanted);
  return p;
}

void require_field(std::string_view name, const diffusion& d, std::uint64_t given) {
  if (given != d.rows * d.columns)
    throw error(errc::invalid_argument, std::string(name) + " has " + std::to_string(given) + " elements; a field of " +
                                            registry::shape_text(d.rows, d.columns) + " has " +
                                            std::to_string(d.rows * d.columns));
}

}  // namespace

double largest_stable_rate(const diffusion& problem) {
  return base::enter(
      [&] { return impl::diffuse::largest_stable_rate(describe(problem, dtype::f64, {.allow_unstable = true})); });
}

template <field_element T>
void diffuse(std::span<const T> field, std::span<T> result, const diffusion& problem, const diffuse_options& options) {
  const registry::problem p = describe(problem, dtype_of<T>, registry::preferences_of(options));
  require_field("the field", problem, field.size());
  require_field("the result", problem, result.size());
  registry::run_admitted(p, options, {{"the field", field}}, {{"the result", result}});
}

template <field_element T>
void diffuse(const array<T>& field, array<T>& result, const diffusion& problem, const diffuse_options& options) {
  const registry::problem p = describe(problem, dtype_of<T>, registry::preferences_of(options));
  require_field("the field", problem, field.size());
  require_field("the result", problem, result.size());
  registry::run_admitted(p, options, {{"the field", field}}, {{"the result", result}});
}

#define TILEWISE_INSTANTIATE(T)                                                                         \
  template void diffuse<T>(std::span<const T>, std::span<T>, const diffusion&, const diffuse_options&); \
  template void diffuse<T>(const array<T>&, array<T>&, const diffusion&, const diffuse_options&);
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)

}  // namespace tilewise
