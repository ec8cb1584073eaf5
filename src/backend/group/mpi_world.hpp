// SPDX-License-Identifier: Apache-2.0
// The processes that one mpirun has started. The code is in a module that is loaded on first use, so that everything
// else works without MPI.
#pragma once

#include "backend/group/transport.hpp"
#include "base/host.hpp"

#include <optional>

namespace tilewise::backend::group {

/// A transport with one rank per process. It moves memory of the queue that was attached last.
class world : public transport {
 public:
  virtual void attach(backend::queue& of_this_rank) = 0;

  /// This rank's number among the ranks on the same host.
  virtual unsigned local_rank() const = 0;
  /// The processors that each rank on this host may run on.
  virtual std::span<const base::processor_set> local_processors() const = 0;
  /// "Open MPI v4.1.4"
  virtual std::string library() const = 0;

  /// Whether rank 0 has failed and ended all ranks.
  virtual bool first_rank_has_failed() const = 0;

  /// Sets a function that runs before this process ends because another one is gone.
  virtual void before_giving_up(void (*work)() noexcept) = 0;

  /// Ends all ranks at once; this process exits with `code`.
  [[noreturn]] virtual void abort(int code) noexcept = 0;
};

/// The function that mpi_loader.cpp looks up in the module. Initializes MPI if the program has not, and then finalizes
/// it when the process ends. Returns null if MPI would end the process.
extern "C" [[gnu::visibility("default")]] world* tilewise_mpi_world();

/// This process's rank, if mpirun has started it: from mpirun, or from MPI once that is initialized.
std::optional<unsigned> launched_rank();
inline bool is_mpi_process() { return launched_rank().has_value(); }

/// Why the module or MPI cannot be loaded; empty if they can. Does not initialize MPI.
std::string why_no_mpi();

/// This process's world, made on first use. Throws `unsupported`, with the missing package, if the module or MPI cannot
/// be loaded.
world& mpi();

}  // namespace tilewise::backend::group
