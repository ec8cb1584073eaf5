// SPDX-License-Identifier: Apache-2.0
// The benchmark's parameters: the original's params.txt, which is read unchanged, and what follows from its values.
#pragma once

#include "registry/problem.hpp"

#include <tilewise/diffuse.hpp>

#include <string>

namespace tilewise::hiperc {

/// The defaults are the original's. As there, sizes include the ghosts.
struct parameters {
  std::uint64_t nx = 512, ny = 512;  // points along x, along y
  double dx = 0.5, dy = 0.5;         // distances between points
  double dc = 0.00625;               // diffusivity
  double co = 0.1;                   // linear stability number
  std::uint64_t ns = 100000;         // steps
  std::uint64_t nc = 10000;          // steps between two outputs
  unsigned mask = 53;                // the second value of sc
  std::uint64_t bx = 32, by = 32;    // blocks of the original's GPU programs; here they are tunings and change no bit

  std::uint64_t ghosts() const { return mask == 95 ? 2 : 1; }  // on each side
  double time_step() const;
  /// The problem of this many steps. Throws `invalid_argument` for a grid that has only ghosts.
  diffusion problem(std::uint64_t steps) const;
  registry::problem problem(std::uint64_t steps, dtype type) const;
  /// The largest co for which steps are stable.
  double largest_stable_co() const;
};

/// Throws `invalid_argument` for a grid whose pictures would be too large, and `out_of_memory` for one that does not
/// fit in the host's memory with its files.
void require_room(const parameters& p, dtype type);
/// Throws `invalid_argument`, with the limit, if the steps are not stable.
void require_stable(const parameters& p);

/// Parses a finite number above 0. False for any other text; messages then ask for `positive_words`.
bool take_positive(const std::string& text, double& to);
inline constexpr const char* positive_words = "a positive number";

/// Each line is `key value`; sc has two values. What follows a # is a comment, and keys may be in any order. Throws
/// `io`, with the line for a malformed, unknown or repeated key, or with the names of all missing keys.
parameters read_parameters(const std::string& path);

}  // namespace tilewise::hiperc
