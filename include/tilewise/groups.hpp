// SPDX-License-Identifier: Apache-2.0
// Groups: several devices as one, in this process or one in each process of an MPI program.
//
// A group opens like a device: "cuda:0+cuda:1", "cuda:*" for all of them, "4*cpu:serial", and in a program that mpirun
// has started "mpi" or "mpi:cuda", where rank i takes a device of process i. Its arrays lie on all of its ranks: rank 0
// has the first elements, and so on. Every algorithm takes them, and gives the bits of one device.
//
// In an MPI program each process makes the same calls on the group, in the same order, as with MPI's own collectives.
// Host data given to such a call is read where this process's rank has its part, and results are complete in each
// process. Data that is nowhere complete is uploaded and downloaded by parts.
#pragma once

#include <tilewise/array.hpp>

namespace tilewise {

/// The ranks of a group, and which of them are in this process: all, or in an MPI program one.
struct group_ranks {
  unsigned count = 0;       ///< of all ranks
  unsigned first_here = 0;  ///< the first one of this process
  unsigned here = 0;        ///< how many it has
};

/// Throws `invalid_argument` for a device that is no group.
TILEWISE_API group_ranks ranks_of(const device& group);

/// An array from the parts of this process's ranks, in order; they may have any length, 0 included. The whole array is
/// all ranks' parts, one after the other. Throws `invalid_argument` unless there is one part for each rank here.
template <scalar T>
TILEWISE_API array<T> upload_parts(const device& group, std::span<const std::span<const T>> parts);

/// Where each rank's part begins, and after the last one the number of elements.
template <scalar T>
TILEWISE_API std::vector<std::uint64_t> borders_of(const array<T>& values);

/// Copies the parts of this process's ranks to the host; waits for the devices.
template <scalar T>
TILEWISE_API std::vector<std::vector<T>> download_parts(const array<T>& values);

}  // namespace tilewise
