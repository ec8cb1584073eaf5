// SPDX-License-Identifier: Apache-2.0
// The descriptor of runs.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "runs/problem.hpp"
#include "segment_reduce/problem.hpp"

#include <algorithm>

namespace tilewise::impl::runs {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

// Nothing; keys that are only counted; one run, as many as keys, and in between; too little and too much room, see
// generated_runs; around one tile and several.
constexpr std::array<extents, 29> edge_shapes{{{0, 0},
                                               {0, 4},
                                               {3, 10},
                                               {1, 0},
                                               {1, 1},
                                               {2, 0},
                                               {2, 1},
                                               {2, 2},
                                               {3, 2},
                                               {17, 17},
                                               {31, 30},
                                               {32, 1},
                                               {33, 5},
                                               {1000, 0},
                                               {1023, 1023},
                                               {1025, 300},
                                               {4095, 2},
                                               {4096, 4096},
                                               {4097, 4000},
                                               {8191, 1},
                                               {8192, 8192},
                                               {8193, 700},
                                               {65535, 65535},
                                               {65537, 8000},
                                               {131071, 3},
                                               {262147, 0},
                                               {262147, 1},
                                               {262147, 200'003},
                                               {1048583, 131'071}}};
constexpr std::array<extents, 2> quick_shapes{{{1048576, 131072}, {16777216, 4096}}};
constexpr std::array<extents, 5> normal_shapes{
    {{1048576, 131072}, {16777216, 2097152}, {16777216, 4096}, {67108864, 8388608}, {67108864, 64}}};

std::vector<operand> inputs(const problem& p) { return {{"keys", p.type, p.n()}}; }
std::vector<operand> outputs(const problem& p) {
  return {{"count", dtype::i64, 1}, {"run_keys", p.type, room_of(p)}, {"offsets", dtype::i64, room_of(p) + 1}};
}
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem&) { return ""; }

/// As many runs as there is room for, and keys for. At edge shapes where the room is a multiple of five, twice as many
/// or half, so that every way is tried.
std::uint64_t generated_runs(const problem& p) {
  std::uint64_t runs = room_of(p) == 0 ? p.n() / 3 + 1 : room_of(p);
  const bool is_edge = std::find(edge_shapes.begin(), edge_shapes.end(), p.shape) != edge_shapes.end();
  if (is_edge && room_of(p) % 5 == 0) runs = runs % 2 == 0 ? std::max<std::uint64_t>(1, runs / 2) : 2 * runs;
  return std::min(p.n(), runs);
}

/// Makes runs of keys that differ in few bits or in many and come again.
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  constexpr std::array<std::uint64_t, 7> some{
      0, 1, 0x1'0000'0000, 0xffff'ffff'ffff'ffff, 0x8000'0000'0000'0001, 0x7fc0'0000'7fc0'0000, 2};
  if (p.n() == 0) return;
  const std::uint64_t count = generated_runs(p);
  problem segments{.what = &segment_reduce::segment_reduce_algorithm(), .type = p.type, .shape = {p.n(), count}};
  registry::choose_setting(segments, "op", "min");  // so that none is empty
  std::array<std::vector<std::byte>, 2> made{{{}, std::vector<std::byte>((count + 1) * sizeof(std::int64_t))}};
  segments.what->fit_inputs(segments, made);
  const auto* const offsets = reinterpret_cast<const std::int64_t*>(made[1].data());
  with_bits(p.type, [&]<class K>(K) {
    auto* const keys = reinterpret_cast<K*>(inputs[0].data());
    K last = 0;
    for (std::uint64_t s = 0; s < count; ++s) {
      auto key = static_cast<K>(some[s % some.size()]);
      if (s != 0 && key == last) key = static_cast<K>(key + 16);
      std::fill(keys + offsets[s], keys + offsets[s + 1], key);
      last = key;
    }
  });
}

problem describe(const detail::request& r) {
  const std::uint64_t room = r.out[1].size;
  if (r.out[0].size != 1 || r.out[2].size != room + 1)
    throw error(errc::invalid_argument, "for " + std::to_string(room) + " runs there is one count, and room for " +
                                            std::to_string(room + 1) + " offsets");
  return call::described(runs_algorithm(), r, {r.in[0].size, room});
}

}  // namespace

const registry::algorithm& runs_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "runs",
        .summary = "the runs of equal keys: each one's key, and where it begins",
        .types = all_dtypes,
        .settings = {},
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .fit_inputs = fit_inputs,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::runs
