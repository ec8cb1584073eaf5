// SPDX-License-Identifier: Apache-2.0
// The benchmark's field, and what is reported of it: hash, residual, picture.
#pragma once

#include "io/png.hpp"
#include "tool/diffuse/parameters.hpp"

#include <string>
#include <vector>

namespace tilewise::hiperc {

/// A field without ghosts after a number of steps; its bytes are those of `type`.
struct snapshot {
  hiperc::parameters parameters;
  dtype type;
  std::uint64_t step = 0;
  double time = 0;  // of all steps, added one by one as the original does: a product has other bits
  std::vector<std::byte> field;

  /// Goes this many steps on, in all but the field.
  void count(std::uint64_t steps);
  /// Rings of ghosts in pictures and tables: the original leaves out one ring of its points, so that one of two
  /// rings of ghosts is in.
  std::int64_t shown_ghosts() const { return static_cast<std::int64_t>(parameters.ghosts()) - 1; }
};

/// A snapshot's field by row and column. It takes the sizes once, since whoever reads a field reads all of it.
class field_view {
 public:
  explicit field_view(const snapshot& shot);

  /// As a double; beyond the edges, the edges' values.
  double at(std::int64_t row, std::int64_t column) const;
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

 private:
  const std::byte* field_;
  dtype type_;
  std::int64_t rows_, columns_;
};

/// The start: 0, and 1 in the strips.
snapshot start_of(const parameters& p, dtype type);

/// FNV-1a of 64 bits over the field's bytes, as 16 hex digits. README.md lists the published hashes beside it, which
/// came from a basis one digit short.
std::string hash_of(const snapshot& shot);
inline constexpr const char* hash_function = "FNV-1a";

/// The weighted sum of squared differences from the analytical solution, as the original adds it. 0 at the start.
double residual_of(const snapshot& shot);

/// 0 to 255 for 0 to 1, a pixel a point, y upwards.
io::picture picture_of(const snapshot& shot);

}  // namespace tilewise::hiperc
