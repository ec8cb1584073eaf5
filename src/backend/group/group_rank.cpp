#include "backend/group/group_rank.hpp"

namespace tilewise::backend::group {

namespace {

/// The part of `range` that `common` is, in memory that holds `range`.
memory within(const memory& holds, byte_range range, byte_range common) {
  return holds.at(common.begin - range.begin, common.bytes());
}

/// Whether each rank's range lies on that rank; then nothing travels.
bool lie_on_their_ranks(const memory& of, std::span<const byte_range> ranges) {
  for (unsigned i = 0; i < ranges.size(); ++i)
    if (ranges[i].bytes() != 0 && !part_of(of, i).holds(ranges[i])) return false;
  return true;
}

}  // namespace

rank_memory rank::fetch(const memory& of, byte_range wanted) const {
  const std::vector<byte_range> all = all_gather(wanted);
  if (lie_on_their_ranks(of, all)) return rank_memory(local(of, index(), wanted));
  const byte_range mine = part(of);
  const bool has_all = wanted.bytes() == 0 || mine.holds(wanted);
  rank_memory got = has_all ? rank_memory(local(of, index(), wanted)) : rank_memory(queue(), wanted.bytes());
  std::vector<parcel> sends, receives;
  for (unsigned peer = 0; peer < count(); ++peer) {
    if (peer == index()) continue;
    if (const byte_range asked = common(all[peer], mine); asked.bytes() != 0)
      sends.push_back({peer, local(of, index(), asked)});
    if (const byte_range theirs = common(wanted, part_of(of, peer)); theirs.bytes() != 0)
      receives.push_back({peer, within(got, wanted, theirs)});
  }
  if (const byte_range kept = common(wanted, mine); !has_all && kept.bytes() != 0)
    queue().copy(within(got, wanted, kept), local(of, index(), kept), kept.bytes());
  others_.exchange(sends, receives);
  return got;
}

rank_memory rank::result(const memory& of, byte_range range) const {
  if (range.bytes() == 0 || part(of).holds(range)) return rank_memory(local(of, index(), range));
  return rank_memory(queue(), range.bytes());
}

void rank::deliver(const memory& to, byte_range range, const rank_memory& computed) const {
  const std::vector<byte_range> all = all_gather(range);
  if (lie_on_their_ranks(to, all)) return;
  const byte_range mine = part(to);
  std::vector<parcel> sends, receives;
  for (unsigned peer = 0; peer < count(); ++peer) {
    if (peer == index()) continue;
    if (const byte_range theirs = common(range, part_of(to, peer)); theirs.bytes() != 0)
      sends.push_back({peer, within(computed, range, theirs)});
    if (const byte_range from = common(all[peer], mine); from.bytes() != 0)
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
