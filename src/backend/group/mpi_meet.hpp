// SPDX-License-Identifier: Apache-2.0
// Sockets between rank 0 and each other rank, on any host, independent of MPI's connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::backend::group {

inline constexpr std::size_t longest_address = 255;

/// Where rank 0 waits for the other ranks. They prove with a secret that they belong to this job.
class rendezvous {
 public:
  rendezvous();
  rendezvous(const rendezvous&) = delete;
  ~rendezvous();

  /// The argument for `reach`: this host's addresses in all its networks, since it is unknown which network the others
  /// share, and host names often do not resolve. Empty if there is none.
  const std::string& address() const { return address_; }
  /// A socket to each other rank, in order; empty if one of them does not connect within seconds.
  std::vector<int> sockets(unsigned ranks) const;

 private:
  int listener_ = -1;
  std::uint64_t secret_;
  std::string address_;
};

/// A socket to rank 0; empty if none of its addresses can be reached.
std::vector<int> reach(const std::string& address, unsigned own_rank);

}  // namespace tilewise::backend::group
