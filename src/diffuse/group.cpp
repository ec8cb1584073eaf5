// SPDX-License-Identifier: Apache-2.0
// What:   diffusion on the ranks of a group, each with a band of rows.
// Order:  every element is stepped by the same expression as in the definition, by the members' variants; an element
//         that two ranks need is computed by both.
// Shape:  passes of several steps. In the first and the last pass, a rank steps its band in place. This makes the rows
//         near the band's borders wrong, so the rank computes these again with halos that its neighbours send. In the
//         other passes bands have room for halos, so only rows of the halos become wrong.
// Limits: those of the members' variants; workspace of twice a rank's part.
// Twins:  pieces.cpp, whose bands pass through one device.
#include "diffuse/problem.hpp"
#include "divide/bands.hpp"

#include <bit>

namespace tilewise::impl::diffuse {

namespace {

using backend::group::part_of;
using backend::group::rank_memory;
using divide::band;
using divide::rank;
using divide::row_range;
using registry::problem;

constexpr std::array<unsigned, 8> step_values{0, 1, 2, 3, 4, 5, 6, 7};
constexpr std::array<std::string_view, 8> step_words{"auto", "1", "2", "4", "8", "16", "32", "64"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"steps", step_values, 0, step_words}}};

std::vector<band> bands_of(const backend::memory& field, std::uint64_t row_bytes, std::uint64_t rows, unsigned ranks) {
  std::vector<band> all;
  for (unsigned i = 0; i < ranks; ++i) {
    const row_range own = divide::rows_in(part_of(field, i), row_bytes, rows);
    all.push_back({{own.begin * row_bytes, own.end * row_bytes}, own});
  }
  return all;
}

/// The steps between two exchanges. At each of its two borders a rank steps three halos more. With up to 16 steps,
/// which the CPU variants need, this must be less than a tenth of its band; with 32, which save a GPU half of the
/// exchanges, less than a fortieth.
std::uint64_t steps_of_a_pass(const problem& p, const registry::tuning& t, std::span<const band> all) {
  const sizes s(p);
  if (const auto [log_steps] = t.of(axes); log_steps != 0) return std::uint64_t{1} << (log_steps - 1);
  const auto busy = static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [](const band& b) { return b.wanted.size() != 0; }));
  if (busy == 1) return s.steps;
  const std::uint64_t rows = s.rows / busy / radius_of(mask_of(p));
  return std::bit_floor(std::max(std::clamp<std::uint64_t>(rows / 64, 1, 16), std::min<std::uint64_t>(rows / 256, 32)));
}

/// The passes of one rank.
class band_passes {
 public:
  band_passes(const problem& p, const registry::tuning& t, const backend::memory& field, const rank& r)
      : p_(p),
        s_(p),
        r_(r),
        row_(s_.columns * size_of(p.type)),
        all_(bands_of(field, row_, s_.rows, r.count())),
        depth_(steps_of_a_pass(p, t, all_)),
        passes_(ceil_div(s_.steps, depth_)),
        halo_(depth_ * radius_of(mask_of(p))),
        padded_(with_halo(own().wanted, halo_, s_.rows)),
        room_{workspace(1), workspace(2)} {}

  const band& of_rank(unsigned k) const { return all_[k]; }
  const band& own() const { return of_rank(r_.index()); }

  void run(const backend::memory& field, const backend::memory& result) {
    for (std::uint64_t pass = 0; pass < passes_; ++pass) {
      const backend::buffer &from = room_[(pass + 1) % 2], &to = room_[pass % 2];
      if (pass == 0 || pass + 1 == passes_)
        step_in_place(pass, pass == 0 ? field : own_rows(from), pass + 1 == passes_ ? result : own_rows(to));
      else
        step_padded(pass, from, to);
    }
  }

 private:
  /// Needed if there are more passes than `fewest`.
  backend::buffer workspace(std::uint64_t fewest) const {
    return {r_.queue(), passes_ > fewest ? padded_.size() * row_ : 0};
  }
  std::uint64_t steps_of(std::uint64_t pass) const { return std::min(depth_, s_.steps - pass * depth_); }
  backend::memory own_rows(const backend::memory& padded) const {
    return padded.at((own().wanted.begin - padded_.begin) * row_, own().held.bytes());
  }

  void step_rows(row_range rows, std::uint64_t steps, const backend::memory& in, const backend::memory& out) const {
    problem part = p_;
    part.shape = {rows.size(), s_.columns, steps, s_.first + rows.begin, s_.all};
    divide::run_on_rank(r_, part, {{in}, {out}});
  }

  void step_in_place(std::uint64_t pass, const backend::memory& from, const backend::memory& to) const {
    const std::uint64_t steps = steps_of(pass), halo = steps * radius_of(mask_of(p_));
    divide::run_band(r_, {s_.rows, row_, s_.rows, row_, halo, halo}, all_, from, to,
                     [&](row_range rows, const backend::memory& in, const backend::memory& out) {
                       step_rows(rows, steps, in, out);
                     });
  }

  void step_padded(std::uint64_t pass, const backend::memory& from, const backend::memory& to) const {
    divide::fill_halos(r_, s_.rows, row_, all_, halo_, from);
    if (padded_.size() != 0) step_rows(padded_, steps_of(pass), from, to);
  }

  const problem& p_;
  sizes s_;
  const rank& r_;
  std::uint64_t row_;
  std::vector<band> all_;
  std::uint64_t depth_, passes_, halo_;
  row_range padded_;
  std::array<backend::buffer, 2> room_;
};

void step_band(const problem& p, const registry::bindings& where, const registry::tuning& t, const rank& r) {
  band_passes passes(p, t, where.in[0], r);
  const auto own = [&](unsigned k) { return passes.of_rank(k).held; };
  const rank_memory field = r.fetch(where.in[0], own), result = r.result(where.out[0], own(r.index()));
  passes.run(field, result);
  r.deliver(where.out[0], own, result);
}

void run(const problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& queue) {
  if (copies_only(p, where, queue)) return;
  backend::group::enter(queue).on_each_rank([&](const rank& r) { step_band(p, where, t, r); });
}

}  // namespace

std::vector<registry::variant> diffuse_group_variants() {
  return {{.algorithm = "diffuse",
           .backend = "group",
           .name = "",
           .types = float_types,
           .source =
               "bands of rows; halos of several steps: C. Ding, Y. He, A ghost cell expansion method for reducing "
               "communications in solving PDE problems (2001)",
           .tuning = axes,
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::diffuse
