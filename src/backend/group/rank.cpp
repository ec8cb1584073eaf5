// SPDX-License-Identifier: Apache-2.0
#include "backend/group/rank.hpp"

namespace tilewise::backend::group {

namespace {

/// The memory of the subrange `common`, where `holds` is the memory of `range`.
memory within(const memory& holds, byte_range range, byte_range common) {
  return holds.at(common.begin - range.begin, common.bytes());
}

}  // namespace

bool rank::lie_on_their_ranks(const memory& of, const ranges& wanted) const {
  for (unsigned i = 0; i < count(); ++i)
    if (const byte_range one = wanted(i); one.bytes() != 0 && !part_of(of, i).holds(one)) return false;
  return true;
}

rank_memory rank::fetch(const memory& of, const ranges& wanted) const {
  return std::move(fetch(std::array{piece{of, wanted}}).front());
}

std::vector<rank_memory> rank::fetch(std::span<const piece> wanted) const {
  std::vector<rank_memory> got;
  std::vector<parcel> sends, receives;
  bool travels = false;
  for (const piece& one : wanted) {
    travels = !lie_on_their_ranks(one.of, one.wanted) || travels;
    got.push_back(fetched(one, sends, receives));
  }
  if (travels) others_.fetch(sends, receives);
  return got;
}

rank_memory rank::fetched(const piece& one, std::vector<parcel>& sends, std::vector<parcel>& receives) const {
  const byte_range mine = part(one.of), range = one.wanted(index());
  const bool has_all = range.bytes() == 0 || mine.holds(range);
  rank_memory got = has_all ? rank_memory(local(one.of, index(), range)) : rank_memory(queue(), range.bytes());
  for (unsigned peer = 0; peer < count(); ++peer) {
    if (peer == index()) continue;
    if (const byte_range asked = common(one.wanted(peer), mine); asked.bytes() != 0)
      sends.push_back({peer, local(one.of, index(), asked)});
    if (const byte_range theirs = common(range, part_of(one.of, peer)); theirs.bytes() != 0)
      receives.push_back({peer, within(got, range, theirs)});
  }
  if (const byte_range kept = common(range, mine); !has_all && kept.bytes() != 0)
    queue().copy(within(got, range, kept), local(one.of, index(), kept), kept.bytes());
  return got;
}

rank_memory rank::result(const memory& of, byte_range range) const {
  if (range.bytes() == 0 || part(of).holds(range)) return rank_memory(local(of, index(), range));
  return rank_memory(queue(), range.bytes());
}

void rank::deliver(const memory& to, const ranges& of, const rank_memory& computed) const {
  if (lie_on_their_ranks(to, of)) return;
  const byte_range mine = part(to), range = of(index());
  std::vector<parcel> sends, receives;
  for (unsigned peer = 0; peer < count(); ++peer) {
    if (peer == index()) continue;
    if (const byte_range theirs = common(range, part_of(to, peer)); theirs.bytes() != 0)
      sends.push_back({peer, within(computed, range, theirs)});
    if (const byte_range from = common(of(peer), mine); from.bytes() != 0)
      receives.push_back({peer, local(to, index(), from)});
  }
  if (const byte_range kept = common(range, mine); computed.is_own() && kept.bytes() != 0)
    queue().copy(local(to, index(), kept), within(computed, range, kept), kept.bytes());
  others_.exchange(sends, receives);
}

void rank::store(const memory& to, std::uint64_t first, const void* from, std::uint64_t bytes) const {
  const byte_range mine = common({first, first + bytes}, part(to));
  if (mine.bytes() != 0)
    queue().upload(local(to, index(), mine), static_cast<const std::byte*>(from) + (mine.begin - first), mine.bytes());
}

}  // namespace tilewise::backend::group
