// What:   diffusion on the ranks of a group, each with a band of rows.
// Order:  every element is stepped by the same expression as in the definition, by the members' variants; an element
//         that two ranks need is computed by both.
// Shape:  passes of several steps. In each, a rank steps its band where it lies, which is right but for the rows that
//         the steps have spoilt from its edges; these it steps again, from halos that neighbours send.
// Limits: those of the members' variants.
// Twins:  diffuse_pieces.cpp, whose bands pass through one device.
#include "diffuse/diffuse_problem.hpp"
#include "registry/bands.hpp"

#include <bit>

namespace tilewise::impl::diffuse {

namespace {

using backend::group::byte_range;
using backend::group::part_of;
using backend::group::rank_memory;
using registry::band;
using registry::problem;
using registry::rank;
using registry::row_range;

constexpr std::array<unsigned, 8> step_values{0, 1, 2, 3, 4, 5, 6, 7};
constexpr std::array<std::string_view, 8> step_words{"auto", "1", "2", "4", "8", "16", "32", "64"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"steps", step_values, 0, step_words}}};

std::vector<band> bands_of(const backend::memory& field, std::uint64_t row_bytes, std::uint64_t rows, unsigned ranks) {
  std::vector<band> all;
  for (unsigned i = 0; i < ranks; ++i) {
    const row_range own = registry::rows_in(part_of(field, i), row_bytes, rows);
    all.push_back({{own.begin * row_bytes, own.end * row_bytes}, own});
  }
  return all;
}

/// Steps between two exchanges. At each of its two borders a rank steps three halos more: less than a tenth of its band
/// for up to 16 steps, which the CPUs' variants want, and a fortieth for 32, which save a GPU half of the exchanges.
std::uint64_t steps_of_a_pass(const problem& p, const registry::tuning& t, std::span<const band> all) {
  const sizes s(p);
  if (const auto [log_steps] = t.of(axes); log_steps != 0) return std::uint64_t{1} << (log_steps - 1);
  const auto busy = static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [](const band& b) { return b.wanted.size() != 0; }));
  if (busy == 1) return s.steps;
  const std::uint64_t rows = s.rows / busy / radius_of(mask_of(p));
  return std::bit_floor(std::max(std::clamp<std::uint64_t>(rows / 64, 1, 16), std::min<std::uint64_t>(rows / 256, 32)));
}

void step_band(const problem& p, const registry::bindings& where, const registry::tuning& t, const rank& r) {
  const sizes s(p);
  const std::uint64_t row = s.columns * size_of(p.type), radius = radius_of(mask_of(p));
  const std::vector<band> all = bands_of(where.in[0], row, s.rows, r.count());
  const byte_range own = all[r.index()].held;
  const std::uint64_t depth = steps_of_a_pass(p, t, all), passes = ceil_div(s.steps, depth);
  const rank_memory field = r.fetch(where.in[0], own), result = r.result(where.out[0], own);
  const backend::buffer workspace(r.queue(), passes > 1 ? own.bytes() : 0);
  registry::bindings local;
  local.in[0] = field, local.out[0] = result;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const stage now(local, workspace, passes, pass);
    const std::uint64_t steps = std::min(depth, s.steps - pass * depth), halo = steps * radius;
    registry::run_band(r, {s.rows, row, s.rows, row, halo, halo}, all, now.from, now.to,
                       [&](row_range rows, const backend::memory& in, const backend::memory& out) {
                         problem part = p;
                         part.shape = {rows.size(), s.columns, steps, s.first + rows.begin, s.all};
                         registry::run_on_rank(r, part, {{in}, {out}});
                       });
  }
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
           .unsupported = registry::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::diffuse
