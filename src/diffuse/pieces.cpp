// SPDX-License-Identifier: Apache-2.0
// Steps a field on the host with a device: bands of rows, several steps at a time.
#include "divide/pieces.hpp"
#include "base/ceil_div.hpp"
#include "diffuse/problem.hpp"

namespace tilewise::impl::diffuse {

namespace {

using registry::problem;

std::uint64_t row_bytes(const problem& p) { return std::max<std::uint64_t>(1, sizes(p).columns * size_of(p.type)); }

/// The rows of a band, including the halos above and below it. A band of a field that does not fit may take a ninth of
/// the device's memory. There are seven buffers at once: three bands in transfer, their results, and a workspace; and
/// pools round sizes up.
std::uint64_t rows_at_once(const problem& p, const device_info& on) {
  const std::uint64_t room = fits(p, on) ? divide::piece_bytes(on) : divide::share_of_memory(on, 1, 9);
  return std::max<std::uint64_t>(2 * radius_of(mask_of(p)) + 1, room / row_bytes(p));
}

/// The bands of one pass. A band uploads its rows with a halo, and downloads the rows that the steps have not made
/// wrong. All bands have about the same height, so that kernels for large fields never get a last band of a few rows.
class band_pass {
 public:
  band_pass(const problem& p, std::uint64_t steps, std::uint64_t rows)
      : p_(p), field_(p), steps_(steps), halo_(steps * radius_of(mask_of(p))) {
    own_ = ceil_div(field_.rows, ceil_div(field_.rows, rows - 2 * halo_));
  }

  std::uint64_t count() const { return ceil_div(field_.rows, own_); }

  divide::piece piece(std::uint64_t i) const {
    const extent band(*this, i);
    const std::uint64_t row = field_.columns * size_of(p_.type);
    return {.in = {{{band.from * row, (band.to - band.from) * row}}},
            .out = {{{band.begin * row, (band.end - band.begin) * row}}},
            .before = {(band.begin - band.from) * row},
            .after = {(band.to - band.end) * row}};
  }

  registry::problem problem(std::uint64_t i) const {
    const extent band(*this, i);
    registry::problem part = p_;
    part.shape = {band.to - band.from, field_.columns, steps_, field_.first + band.from, field_.all};
    return part;
  }

 private:
  struct extent {
    std::uint64_t begin, end, from, to;  // its own rows [begin, end), with the halo [from, to)

    extent(const band_pass& of, std::uint64_t i)
        : begin(i * of.own_),
          end(std::min(begin + of.own_, of.field_.rows)),
          from(begin - std::min(begin, of.halo_)),
          to(std::min(end + of.halo_, of.field_.rows)) {}
  };

  const registry::problem& p_;
  sizes field_;
  std::uint64_t steps_, halo_, own_ = 0;
};

bool takes(const registry::choice& how, const problem& band, const backend::device& on) {
  return registry::unsupported_reason(*how.variant, band, on, how.tuning).empty();
}

/// Whether the field may be cut into bands. A field that fits the device stays there, unless one pass computes all
/// steps and at most an eighth of its transfers is halo.
bool is_possible(const problem& p, const registry::choice& how, const backend::device& on) {
  const sizes s(p);
  const std::uint64_t rows = rows_at_once(p, on.info());
  const bool is_quick = s.steps != 0 && s.steps <= rows / 16 / radius_of(mask_of(p));
  if (how.variant->order != registry::claim::tilewise || (fits(p, on.info()) && !is_quick)) return false;
  const band_pass bands(p, std::min(s.steps, steps_of_a_pass(p, on.info())), rows);
  return takes(how, bands.problem(0), on) && takes(how, bands.problem(bands.count() - 1), on);
}

/// Passes alternate between the result and another field on the host; the last one writes the result.
void run(const problem& p, const registry::choice& how, backend::queue& queue, const registry::host_pointers& host) {
  const sizes s(p);
  const device_info& on = queue.device().info();
  const std::uint64_t rows = rows_at_once(p, on);
  const std::uint64_t passes = std::max<std::uint64_t>(1, ceil_div(s.steps, steps_of_a_pass(p, on)));
  const std::uint64_t bytes = passes > 1 ? s.elements() * size_of(p.type) : 0;
  const auto between = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const auto end_of = [&](std::uint64_t pass) { return s.steps / passes * pass + std::min(pass, s.steps % passes); };
  const void* from = host.in[0];
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    void* const to = (passes - pass) % 2 == 1 ? host.out[0] : between.get();
    const band_pass bands(p, end_of(pass + 1) - end_of(pass), rows);
    divide::run_pieces(
        queue, {{&from, 1}, {&to, 1}}, bands.count(), [&](std::uint64_t i) { return bands.piece(i); },
        [&](std::uint64_t i, const registry::bindings& where) {
          divide::run_part(how, bands.problem(i), where, queue);
        });
    from = to;
  }
}

}  // namespace

bool fits(const problem& p, const device_info& on) {
  const std::uint64_t bytes = sizes(p).elements() * size_of(p.type);
  return divide::has_room(on, 3 * bytes, bytes);
}

/// As many steps as make a quarter of the transfers halo. With more steps more rows would be computed twice; with fewer
/// the field would be transferred more often.
std::uint64_t steps_of_a_pass(const problem& p, const device_info& on) {
  return std::max<std::uint64_t>(1, rows_at_once(p, on) / 8 / radius_of(mask_of(p)));
}

const registry::division division{.is_possible = is_possible, .run = run};

}  // namespace tilewise::impl::diffuse
