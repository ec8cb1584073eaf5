// The only file that rejects a diffusion: checks, chooses, runs.
#include <tilewise/diffuse.hpp>

#include "diffuse/diffuse_problem.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

#include <algorithm>

namespace tilewise {

namespace {

using impl::diffuse::weights;
using registry::aliasing;

std::string text_of(double value) { return to_string(registry::scalar_value::of(value)); }

registry::problem describe(const diffusion& d, dtype type) {
  const registry::problem p = impl::diffuse::problem_of(d, type);
  registry::check(p);
  return p;
}

/// The mask's most negative value on a wave: one of the three shortest ones, of which neighbours along x, along y, or
/// along both have opposite signs.
double lowest_value(const weights<double>& w) {
  const auto on_wave = [&](double x, double y) {
    return w.centre + 2 * (x * w.side_x + y * w.side_y) + 4 * x * y * w.corner + 2 * (w.far_x + w.far_y);
  };
  return std::min({on_wave(-1, 1), on_wave(1, -1), on_wave(-1, -1)});
}

double stable_rate(const registry::problem& p) { return -2 / lowest_value(impl::diffuse::weights_of(p)); }

registry::problem describe(const diffusion& d, dtype type, const diffuse_options& options) {
  const registry::problem p = describe(d, type);
  if (!options.allow_unstable && d.rate > stable_rate(p))
    throw error(errc::invalid_argument, "the rate of " + text_of(d.rate) + " is unstable: the largest stable one is " +
                                            text_of(stable_rate(p)) + "; take a shorter time step, or allow it");
  return p;
}

void require_field(std::string_view name, const diffusion& d, std::uint64_t given) {
  if (given != d.rows * d.columns)
    throw error(errc::invalid_argument, std::string(name) + " has " + std::to_string(given) + " elements; a field of " +
                                            registry::shape_text(d.rows, d.columns) + " has " +
                                            std::to_string(d.rows * d.columns));
}

registry::wishes wishes_of(const diffuse_options& options) { return {options.variant, options.tuning}; }

}  // namespace

double largest_stable_rate(const diffusion& problem) { return stable_rate(describe(problem, dtype::f64)); }

template <field_element T>
void diffuse(std::span<const T> field, std::span<T> result, const diffusion& problem, const diffuse_options& options) {
  const registry::problem p = describe(problem, dtype_of<T>, options);
  require_field("the field", problem, field.size());
  require_field("the result", problem, result.size());
  registry::refuse_overlap(aliasing::forbidden, {{"the field", field}}, {{"the result", result}});
  registry::call_on_host(p, options.device, wishes_of(options), {field.data()}, {result.data()});
}

template <field_element T>
void diffuse(const array<T>& field, array<T>& result, const diffusion& problem, const diffuse_options& options) {
  const registry::problem p = describe(problem, dtype_of<T>, options);
  require_field("the field", problem, field.size());
  require_field("the result", problem, result.size());
  registry::refuse_overlap(aliasing::forbidden, {{"the field", field}}, {{"the result", result}});
  registry::call_on_arrays(p, wishes_of(options), {{"the field", field}}, {{"the result", result}});
}

#define TILEWISE_INSTANTIATE(T)                                                                         \
  template void diffuse<T>(std::span<const T>, std::span<T>, const diffusion&, const diffuse_options&); \
  template void diffuse<T>(const array<T>&, array<T>&, const diffusion&, const diffuse_options&);
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)

}  // namespace tilewise
