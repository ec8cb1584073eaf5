// SPDX-License-Identifier: Apache-2.0
#include "divide/ranks.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>

namespace tilewise::divide {

namespace {

bindings all_on_one_rank(const bindings& where) {
  const auto whole = [](const backend::memory& m) { return backend::group::local(m, 0, {0, m.bytes}); };
  bindings there;
  std::transform(where.in.begin(), where.in.end(), there.in.begin(), whole);
  std::transform(where.out.begin(), where.out.end(), there.out.begin(), whole);
  return there;
}

}  // namespace

void run_on_rank(const rank& r, const problem& p, const bindings& where, const preferences& wanted) {
  const registry::choice how = choose(p, r.device().implementation(), wanted);
  how.variant->run(p, where, how.tuning, r.queue());
}

std::string unsupported_by_members(const problem& p, const backend::device& group, const preferences& wanted) {
  try {
    for (const auto& member : backend::group::members_of(group)) choose(p, *member, wanted);
  } catch (const error& none) {
    return none.what();
  }
  return "";
}

std::string unsupported_by_members(const problem& p, const backend::device& group, const registry::tuning&) {
  return unsupported_by_members(p, group);
}

void run_on_ranks(backend::queue& group, const problem& p, const bindings& where,
                  const std::function<void(const rank&)>& work, const preferences& wanted) {
  backend::group::enter(group).on_each_rank([&](const rank& r) {
    if (r.count() == 1)
      run_on_rank(r, p, all_on_one_rank(where), wanted);
    else
      work(r);
  });
}

row_range rows_in(backend::group::byte_range part, std::uint64_t row_bytes, std::uint64_t count) {
  return {std::min(count, ceil_div(part.begin, row_bytes)), std::min(count, ceil_div(part.end, row_bytes))};
}

}  // namespace tilewise::divide
