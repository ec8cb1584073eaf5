// The HiPerC diffusion benchmark: its parameters, its field, and what it tells of a field.
#pragma once

#include "io/png.hpp"

#include <tilewise/diffuse.hpp>

#include <string>
#include <vector>

namespace tilewise::lab {

/// The defaults are the original's. Sizes count the ghosts, as there.
struct diffuse_parameters {
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
  /// Of so many steps. Throws `invalid_argument` for a grid of nothing but ghosts.
  diffusion problem(std::uint64_t steps) const;
  /// The largest co for which steps are stable.
  double largest_stable_co() const;
};

/// A field without ghosts after so many steps; its bytes are those of `type`.
struct diffuse_state {
  diffuse_parameters parameters;
  dtype type;
  std::uint64_t step = 0;
  double time = 0;  // of all steps, added one by one as the original does: a product has other bits
  std::vector<std::byte> field;

  /// Goes so many steps on, but for the field.
  void count(std::uint64_t steps);
  /// Rings of ghosts in pictures and tables: the original leaves out one ring of its points, so that of two rings of
  /// ghosts one is in.
  std::int64_t shown_ghosts() const { return static_cast<std::int64_t>(parameters.ghosts()) - 1; }
};

/// A state's field by row and column. It takes the sizes once: what reads fields reads every element of them.
class field_view {
 public:
  explicit field_view(const diffuse_state& state);

  /// As a double; beyond the edges stand the edges' values.
  double at(std::int64_t row, std::int64_t column) const;
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

 private:
  const std::byte* field_;
  dtype type_;
  std::int64_t rows_, columns_;
};

/// The start: 0, but the strips 1.
diffuse_state start_of(const diffuse_parameters& parameters, dtype type);

/// FNV-1a of 64 bits over the field's bytes, as 16 hex digits. It starts from 1469598103934665603 as the published
/// hashes of this benchmark do, a digit short of FNV's own basis.
std::string hash_of(const diffuse_state& state);

/// The weighted sum of squared differences from the analytical solution, as the original adds it. 0 at the start.
double residual_of(const diffuse_state& state);

/// 0 to 255 for 0 to 1, a pixel a point, y upwards.
io::picture picture_of(const diffuse_state& state);

}  // namespace tilewise::lab
