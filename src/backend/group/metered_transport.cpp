// SPDX-License-Identifier: Apache-2.0
#include "backend/group/metered_transport.hpp"

#include <chrono>

namespace tilewise::backend::group {

void meet(transport& ranks) { gathered(ranks, char{}); }

template <class F>
void metered_transport::note(std::uint64_t bytes, F exchange) {
  using clock = std::chrono::steady_clock;
  queue_.finish();
  meet(through_);
  const clock::time_point begun = clock::now();
  exchange();
  queue_.finish();
  noted_.ns += std::chrono::duration<double, std::nano>(clock::now() - begun).count();
  noted_.bytes += bytes;
  ++noted_.exchanges;
  meet(through_);  // ranks that share a core would compute while others still exchange
}

void metered_transport::all_gather(const void* mine, std::uint64_t bytes, void* all) {
  note(bytes * (size() - 1), [&] { through_.all_gather(mine, bytes, all); });
}

namespace {

std::uint64_t bytes_of(std::span<const parcel> sends) {
  std::uint64_t bytes = 0;
  for (const parcel& one : sends) bytes += one.where.bytes;
  return bytes;
}

}  // namespace

void metered_transport::exchange(std::span<const parcel> sends, std::span<const parcel> receives) {
  note(bytes_of(sends), [&] { through_.exchange(sends, receives); });
}

loan metered_transport::borrow(std::span<const parcel> sends, std::span<const demand> receives) {
  loan lent;
  note(bytes_of(sends), [&] { lent = through_.borrow(sends, receives); });
  return lent;
}

loan metered_transport::show(std::span<const parcel> sends, std::span<const demand> receives) {
  loan lent;
  note(0, [&] { lent = through_.show(sends, receives); });
  return lent;
}

}  // namespace tilewise::backend::group
