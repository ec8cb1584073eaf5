// SPDX-License-Identifier: Apache-2.0
// How ranks on several hosts find rank 0.
#include "backend/group/mpi_meet.hpp"

#include <algorithm>
#include <future>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

void close_all(const std::vector<int>& sockets) { std::for_each(sockets.begin(), sockets.end(), close); }

/// The sockets of rank 0 and of rank 1, if rank 1 uses this address.
std::pair<std::vector<int>, std::vector<int>> both_ends(const rendezvous& first, const std::string& address) {
  auto other = std::async(std::launch::async, [&] { return reach(address, 1); });
  const std::vector<int> sockets = first.sockets(2);
  return {sockets, other.get()};
}

}  // namespace

TEST(Meeting, TellsBothEndsOfOneConnection) {
  const rendezvous first;
  const auto [here, there] = both_ends(first, first.address());
  ASSERT_EQ(here.size(), 1u);
  ASSERT_EQ(there.size(), 1u);
  char said = 'a';
  EXPECT_EQ(send(there[0], &said, 1, 0), 1);
  EXPECT_EQ(recv(here[0], &said, 1, 0), 1);
  close_all(here), close_all(there);
}

TEST(Meeting, GoesOnToTheNextAddress) {
  const rendezvous first;
  const std::size_t host = first.address().find(" 127.0.0.1");
  ASSERT_NE(host, std::string::npos);
  std::string address = first.address();
  address.insert(host, " 192.0.2.1 no.address");  // the first address belongs to nobody
  const auto [here, there] = both_ends(first, address);
  EXPECT_EQ(here.size(), 1u);
  EXPECT_EQ(there.size(), 1u);
  close_all(here), close_all(there);
}

TEST(Meeting, IsOfRanksThatKnowItsSecret) {
  const rendezvous first;
  std::string wrong = first.address();
  wrong[wrong.find(' ') - 1] ^= 1;  // changes a digit
  auto others = std::async(std::launch::async, [&] {
    EXPECT_TRUE(reach(wrong, 1).empty());
    EXPECT_TRUE(reach(first.address(), 2).empty());  // there are only two ranks
    return reach(first.address(), 1);
  });
  const std::vector<int> sockets = first.sockets(2);
  EXPECT_EQ(sockets.size(), 1u);
  const std::vector<int> there = others.get();
  EXPECT_EQ(there.size(), 1u);
  close_all(sockets), close_all(there);
}

}  // namespace tilewise::backend::group
