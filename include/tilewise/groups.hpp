// SPDX-License-Identifier: Apache-2.0
// Groups: several devices used as one. They belong to one process, or to an MPI program with one device per process.
//
// open() takes a group's name: "cuda:0+cuda:1", "cuda:*" for all CUDA devices, "4*cpu:serial". In a program that mpirun
// has started it also takes "mpi" or "mpi:cuda", where rank i is a device of process i. A group's arrays are split into
// shards, one per rank: rank 0 has the first elements, and so on. Algorithms give the same bits as on one device.
//
// In an MPI program each process makes the same calls on the group, in the same order, as with MPI's own collectives.
// From host data, each process reads only the shard of its own rank. Host results are complete in every process. If no
// process has the complete data, use upload_parts() and download_parts().
#pragma once

#include <tilewise/array.hpp>

namespace tilewise {

/// The ranks of a group, and which of them are in this process: in an MPI program one, otherwise all.
struct group_ranks {
  unsigned count = 0;       ///< number of ranks in the group
  unsigned first_here = 0;  ///< the first rank in this process
  unsigned here = 0;        ///< number of ranks in this process
};

/// The ranks of this group. Throws `invalid_argument` if the device is not a group.
TILEWISE_API group_ranks ranks_of(const device& group);

/// Makes an array whose shards are `parts`: one for each rank in this process, in order of rank. Shards may have any
/// length, including 0. The whole array is the shards of all ranks, one after the other. Throws `invalid_argument`
/// unless there is one part for each rank in this process.
template <class T>
TILEWISE_API array<T> upload_parts(const device& group, std::span<const std::span<const T>> parts);

/// The position of each rank's first element in the whole array, followed by the array's size.
template <class T>
TILEWISE_API std::vector<std::uint64_t> borders_of(const array<T>& values);

/// Copies the shards of this process's ranks to the host; waits for the devices.
template <class T>
TILEWISE_API std::vector<std::vector<T>> download_parts(const array<T>& values);

}  // namespace tilewise
