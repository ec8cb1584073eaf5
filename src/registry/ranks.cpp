#include "registry/ranks.hpp"

#include "base/ceil_div.hpp"

namespace tilewise::registry {

using backend::group::byte_range;
using backend::group::rank_memory;

void run_on_rank(const rank& r, const problem& p, const bindings& where) {
  const choice how = choose(p, r.device().implementation());
  how.variant->run(p, where, how.tuning, r.queue());
}

std::string unsupported_by_members(const problem& p, const backend::device& group) {
  try {
    for (const auto& member : backend::group::members_of(group)) choose(p, *member);
  } catch (const error& none) {
    return none.what();
  }
  return "";
}

namespace {

byte_range range_of(const slice& s) { return {s.first, s.first + s.bytes()}; }

void run_rows(const rank& r, const bindings& where, const rows& all) {
  const row_range mine = all.row_bytes == 0 ? row_range{0, r.index() == 0 ? all.count : 0}
                                            : rows_in(r.part(where.in[0]), all.row_bytes, all.count);
  const auto [part, slices] = all.part(mine.begin, mine.size());
  std::vector<rank_memory> in, out;
  bindings local;
  for (std::size_t i = 0; i < part.what->inputs(part).size(); ++i)
    local.in[i] = in.emplace_back(r.fetch(where.in[i], mine.size() == 0 ? byte_range() : range_of(slices.in[i])));
  for (std::size_t o = 0; o < part.what->outputs(part).size(); ++o)
    local.out[o] = out.emplace_back(r.result(where.out[o], range_of(slices.out[o])));
  if (mine.size() != 0) run_on_rank(r, part, local);
  for (std::size_t o = 0; o < out.size(); ++o) r.deliver(where.out[o], range_of(slices.out[o]), out[o]);
}

}  // namespace

row_range rows_in(byte_range part, std::uint64_t row_bytes, std::uint64_t count) {
  return {std::min(count, ceil_div(part.begin, row_bytes)), std::min(count, ceil_div(part.end, row_bytes))};
}

void run_rows_on_ranks(const bindings& where, backend::queue& queue, const rows& all) {
  backend::group::enter(queue).on_each_rank([&](const rank& r) { run_rows(r, where, all); });
}

}  // namespace tilewise::registry
