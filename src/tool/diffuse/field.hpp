// SPDX-License-Identifier: Apache-2.0
// The benchmark's field, and what is reported about it: hash, residual, picture.
#pragma once

#include "io/png.hpp"
#include "tool/diffuse/parameters.hpp"

#include <string>
#include <vector>

namespace tilewise::hiperc {

/// A field without ghosts after some number of steps. Its bytes are elements of `type`.
struct snapshot {
  hiperc::parameters parameters;
  dtype type;
  std::uint64_t step = 0;
  double time = 0;  // of all steps, added one by one as the original does; a product would have other bits
  std::vector<std::byte> field;

  /// Counts this many steps, without changing the field.
  void count(std::uint64_t steps);
  /// How many rings of ghosts pictures and tables show. The original leaves out one ring of points, so with two rings
  /// of ghosts one is shown.
  std::int64_t shown_ghosts() const { return static_cast<std::int64_t>(parameters.ghosts()) - 1; }
};

/// Access to a snapshot's field by row and column. It computes the sizes only once.
class field_view {
 public:
  explicit field_view(const snapshot& shot);

  /// The value as a double. Beyond the edges, the value at the edge.
  double at(std::int64_t row, std::int64_t column) const;
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

 private:
  const std::byte* field_;
  dtype type_;
  std::int64_t rows_, columns_;
};

/// The field at the start: 1 in the strips, 0 elsewhere.
snapshot start_of(const parameters& p, dtype type);

/// FNV-1a of 64 bits over the field's bytes, as 16 hex digits. Older hashes began from a basis that lacks one digit;
/// README.md lists both.
std::string hash_of(const snapshot& shot);
inline constexpr const char* hash_function = "FNV-1a";

/// The weighted sum of squared differences from the analytical solution, added in the original's order. 0 at the start.
double residual_of(const snapshot& shot);

/// One pixel for each point, with y upwards; 0 to 255 stands for 0 to 1.
io::picture picture_of(const snapshot& shot);

}  // namespace tilewise::hiperc
