// SPDX-License-Identifier: Apache-2.0
// How a call of diffuse is described, and the largest rate at which it is stable.
#include <tilewise/diffuse.hpp>

#include "base/enter.hpp"
#include "call/call.hpp"
#include "diffuse/problem.hpp"

namespace tilewise {

namespace impl::diffuse {

namespace {

registry::problem admitted(const diffusion& d, dtype type, const registry::preferences& wanted) {
  const registry::problem p = problem_of(d, type);
  call::admit(p, wanted);
  return p;
}

void require_field(const detail::argument& given, const diffusion& d) {
  if (given.size != d.rows * d.columns)
    throw error(errc::invalid_argument, std::string(given.name) + " has " + std::to_string(given.size) +
                                            " elements; a field of " + registry::shape_text(d.rows, d.columns) +
                                            " has " + std::to_string(d.rows * d.columns));
}

}  // namespace

registry::problem describe(const detail::request& r) {
  const auto whole = [&](const char* name) {
    return call::converted(call::number_of(r, name), dtype::u64, name).as<std::uint64_t>();
  };
  const auto real = [&](const char* name) {
    return call::converted(call::number_of(r, name), dtype::f64, name).as<double>();
  };
  const diffusion d{.rows = r.in[0].of.rows,
                    .columns = r.in[0].of.columns,
                    .steps = whole("steps"),
                    .mask = static_cast<unsigned>(whole("mask")),
                    .dx = real("dx"),
                    .dy = real("dy"),
                    .rate = real("rate")};
  const registry::problem p = admitted(d, r.in[0].type, call::preferences_of(r));
  require_field(r.in[0], d), require_field(r.out[0], d);
  return p;
}

}  // namespace impl::diffuse

double largest_stable_rate(const diffusion& problem) {
  return base::enter([&] {
    return impl::diffuse::largest_stable_rate(impl::diffuse::admitted(problem, dtype::f64, {.allow_unstable = true}));
  });
}

}  // namespace tilewise
