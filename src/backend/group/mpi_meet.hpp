// SPDX-License-Identifier: Apache-2.0
// Connections between rank 0 and each other rank, on its host or another one, that are apart from MPI's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::backend::group {

inline constexpr std::size_t longest_address = 255;

/// Where rank 0 waits for the others. Whoever does not know the secret is no rank of this job.
class rendezvous {
 public:
  rendezvous();
  rendezvous(const rendezvous&) = delete;
  ~rendezvous();

  /// For `reach`: addresses of all networks of this host, since nobody can know which of
  /// them the others share, and names often lead nowhere. Empty where there is none.
  const std::string& address() const { return address_; }
  /// A socket to each of the other ranks, in order; empty if one of them has not come within seconds.
  std::vector<int> sockets(unsigned ranks) const;

 private:
  int listener_ = -1;
  std::uint64_t secret_;
  std::string address_;
};

/// A socket to rank 0; empty if it can be reached at none of its addresses.
std::vector<int> reach(const std::string& address, unsigned own_rank);

}  // namespace tilewise::backend::group
