// SPDX-License-Identifier: Apache-2.0
// Any bytes give either parameters within their limits that are the same after they are written and read again, or an
// io error.
#include "base/number.hpp"
#include "fuzz.hpp"
#include "lab/plan/problems.hpp"
#include "tool/diffuse/parameters.hpp"

#include <cmath>

using namespace tilewise;
using hiperc::parameters;

namespace {

std::string text_of(const parameters& p) {
  std::string text = "sc " + std::string(p.mask == 95 ? "5 " : "3 ") + std::to_string(p.mask) + "\n";
  for (const auto& [key, member] : {std::pair{"nx", &parameters::nx},
                                    {"ny", &parameters::ny},
                                    {"ns", &parameters::ns},
                                    {"nc", &parameters::nc},
                                    {"bx", &parameters::bx},
                                    {"by", &parameters::by}})
    text += std::string(key) + " " + std::to_string(p.*member) + "\n";
  for (const auto& [key, member] :
       {std::pair{"dx", &parameters::dx}, {"dy", &parameters::dy}, {"dc", &parameters::dc}, {"co", &parameters::co}})
    text += std::string(key) + "\t" + base::to_string(base::scalar_value::of(p.*member)) + " # and more\n";
  return text;
}

void require_within_limits(const parameters& p) {
  for (const std::uint64_t size : {p.nx, p.ny, p.nc, p.bx, p.by})
    fuzz::require(size >= 1 && size <= lab::most_elements, "sizes have limits", text_of(p));
  fuzz::require(p.ns <= lab::most_elements, "steps have limits", text_of(p));
  for (const double value : {p.dx, p.dy, p.dc, p.co})
    fuzz::require(std::isfinite(value) && value > 0, "numbers are positive", text_of(p));
  fuzz::require(p.mask == 53 || p.mask == 93 || p.mask == 95, "the mask is one of three", text_of(p));
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  const fuzz::memory_file file(text);
  parameters p;
  if (!fuzz::is_file_read(file.path(), {errc::io}, [&] { p = hiperc::read_parameters(file.path()); })) return;
  require_within_limits(p);
  const fuzz::memory_file written(text_of(p));
  const std::string again = text_of(hiperc::read_parameters(written.path()));
  fuzz::require(again == text_of(p), "parameters are read as they were written", again);
}
