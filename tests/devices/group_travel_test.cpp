// SPDX-License-Identifier: Apache-2.0
// What the ranks of a group send is counted, but only while counting is on.
#include "backend/group/device.hpp"
#include "helpers.hpp"

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

using backend::group::demand;
using backend::group::parcel;
using backend::group::queue;
using backend::group::rank;
using backend::group::travel;

constexpr std::uint64_t sent_around = 100, sent_too = 60;

/// Each rank tells all others a number, and sends two buffers to the next.
void tell_and_send(const rank& r) {
  r.all_gather(std::uint64_t{r.index()});
  const unsigned next = (r.index() + 1) % r.count(), before = (r.index() + r.count() - 1) % r.count();
  const backend::buffer out(r.queue(), sent_around), more(r.queue(), sent_too);
  const backend::buffer in(r.queue(), sent_around), more_in(r.queue(), sent_too);
  const parcel sends[] = {{next, out}, {next, more}}, receives[] = {{before, in}, {before, more_in}};
  r.exchange(sends, receives);
}

TEST(GroupTravel, BytesOfAllRanksAndExchangesOfOne) {
  const auto device = backend::find_device("3*cpu:serial", {});
  queue& ranks = backend::group::enter(device->queue());
  const auto both = [&] {
    for (int i = 0; i < 2; ++i) ranks.on_each_rank(tell_and_send);
  };
  both();
  const travel noted = ranks.metered(both);
  EXPECT_EQ(noted.bytes, 2 * (3 * 2 * sizeof(std::uint64_t) + 3 * (sent_around + sent_too)));
  EXPECT_EQ(noted.exchanges, 4u);
  EXPECT_GT(noted.ns, 0);
  EXPECT_EQ(ranks.metered([] {}).exchanges, 0u);
}

/// Independent of whether devices read the memory directly.
TEST(GroupTravel, WhatIsLentIsSentAndWhatIsShownIsNot) {
  const auto device = backend::find_device("3*cpu:serial", {});
  queue& ranks = backend::group::enter(device->queue());
  const auto counted = [&](const auto& travels) {
    return ranks.metered([&] {
      ranks.on_each_rank([&](const rank& r) {
        const backend::buffer own(r.queue(), sent_around);
        const parcel send{(r.index() + 1) % r.count(), own};
        const demand receive{(r.index() + r.count() - 1) % r.count(), sent_around};
        travels(r, std::span(&send, 1), std::span(&receive, 1));
        r.give_back();
      });
    });
  };
  const travel lent = counted([](const rank& r, auto sends, auto receives) { r.borrow(sends, receives); });
  const travel shown = counted([](const rank& r, auto sends, auto receives) { r.show(sends, receives); });
  EXPECT_EQ(lent.bytes, 3 * sent_around);
  EXPECT_EQ(shown.bytes, 0u);
  EXPECT_EQ(lent.exchanges, 1u);
  EXPECT_EQ(shown.exchanges, 1u);
}

TEST(GroupTravel, AFailureEndsTheCounting) {
  const auto device = backend::find_device("2*cpu:serial", {});
  queue& ranks = backend::group::enter(device->queue());
  const auto fails = [&] {
    ranks.on_each_rank([](const rank& r) {
      r.all_gather(r.index());
      if (r.index() == 1) throw error(errc::unsupported, "planted");
      r.all_gather(r.index());
    });
  };
  EXPECT_THROW(ranks.metered(fails), error);
  ranks.on_each_rank(tell_and_send);  // the counters are gone, so it must not count
  EXPECT_EQ(ranks.metered([&] { ranks.on_each_rank(tell_and_send); }).exchanges, 2u);
}

TEST(GroupTravel, ARankAloneSendsNothing) {
  const auto device = backend::find_device("1*cpu:serial", {});
  queue& ranks = backend::group::enter(device->queue());
  EXPECT_EQ(ranks.metered([&] { ranks.on_each_rank([](const rank& r) { r.all_gather(r.index()); }); }).bytes, 0u);
}

}  // namespace
}  // namespace tilewise::tests
