// SPDX-License-Identifier: Apache-2.0
// The benchmark's parameters: the original's params.txt, which is read unchanged, and what follows from its values.
#pragma once

#include "registry/problem.hpp"

#include <tilewise/diffuse.hpp>

#include <string>

namespace tilewise::hiperc {

/// The defaults are the original's. Sizes count the ghosts, as there.
struct parameters {
  std::uint64_t nx = 512, ny = 512;  // points along x, along y
  double dx = 0.5, dy = 0.5;         // their distances
  double dc = 0.00625;               // diffusivity
  double co = 0.1;                   // linear stability number
  std::uint64_t ns = 100000;         // steps
  std::uint64_t nc = 10000;          // steps between two outputs
  unsigned mask = 53;                // the second word of sc
  std::uint64_t bx = 32, by = 32;    // blocks of the original's GPU programs; ours change no bit and are tunings

  std::uint64_t ghosts() const { return mask == 95 ? 2 : 1; }  // on each side
  double time_step() const;
  /// With this many steps. Throws `invalid_argument` for a grid of nothing but ghosts.
  diffusion problem(std::uint64_t steps) const;
  registry::problem problem(std::uint64_t steps, dtype type) const;
  /// The largest co for which steps are stable.
  double largest_stable_co() const;
};

/// Throws `invalid_argument` for a grid whose pictures are too large, and `out_of_memory` for one that the host cannot
/// hold with its files.
void require_room(const parameters& p, dtype type);
/// Throws `invalid_argument`, with the limit, for steps that are not stable.
void require_stable(const parameters& p);

/// Takes a finite number above 0; false for anything else, which is then not `positive_words`.
bool take_positive(const std::string& text, double& to);
inline constexpr const char* positive_words = "a positive number";

/// Lines are `key value`, sc has two values; what follows a # is a comment, keys come in any order. Throws `io`: naming
/// the line for what is malformed, unknown or repeated, and all missing keys if there are any.
parameters read_parameters(const std::string& path);

}  // namespace tilewise::hiperc
