// SPDX-License-Identifier: Apache-2.0
// The processes that one mpirun has started, as a module that is loaded when they are first asked for: without MPI
// everything else works.
#pragma once

#include "backend/group/transport.hpp"
#include "base/host.hpp"

#include <optional>

namespace tilewise::backend::group {

/// One rank in each process. Its memory is that of the queue that was attached last.
class world : public transport {
 public:
  virtual void attach(backend::queue& of_this_rank) = 0;

  /// Among the ranks on the same host.
  virtual unsigned local_rank() const = 0;
  /// What each of them may run on.
  virtual std::span<const base::processor_set> local_processors() const = 0;
  /// "Open MPI v4.1.4"
  virtual std::string library() const = 0;

  /// Whether rank 0 has ended them all.
  virtual bool first_rank_has_failed() const = 0;

  /// What this process does before it ends because another one is gone.
  virtual void before_giving_up(void (*work)() noexcept) = 0;

  /// Ends all ranks at once, this one with the code.
  [[noreturn]] virtual void abort(int code) noexcept = 0;
};

/// What mpi_loader.cpp looks up in the module. Starts MPI if the program has not; then it ends with the process. Null
/// where MPI would end the process instead.
extern "C" [[gnu::visibility("default")]] world* tilewise_mpi_world();

/// Its rank, if an mpirun has started this process: as that one says, and MPI itself once it has started.
std::optional<unsigned> launched_rank();
inline bool is_mpi_process() { return launched_rank().has_value(); }

/// Why neither the module nor MPI can be loaded; empty if they can. Starts nothing.
std::string why_no_mpi();

/// The one of this process, made when first asked for. Throws `unsupported`, with the package that is missing, where
/// the module or MPI itself cannot be loaded.
world& mpi();

}  // namespace tilewise::backend::group
