// SPDX-License-Identifier: Apache-2.0
// One maker for each programming model; executor.cpp lists those of this build.
#pragma once

#include "backend/cpu/executor.hpp"

namespace tilewise::backend::cpu {

std::unique_ptr<executor> make_serial_executor(unsigned threads);
std::unique_ptr<executor> make_threads_executor(unsigned threads);
/// The same, whose threads poll longer before they sleep. Each body runs on a thread of its own, and all do at once, so
/// that they may wait for each other; but not where another call of this executor is under way.
std::unique_ptr<executor> make_rank_threads(unsigned ranks);
std::unique_ptr<executor> make_openmp_executor(unsigned threads);
std::unique_ptr<executor> make_tbb_executor(unsigned threads);

/// Why oneTBB's executor cannot be created on this machine; empty if it can.
std::string why_no_tbb_executor();

/// What executor_loader.cpp looks up in the module of oneTBB's executor. The caller owns the executor.
extern "C" [[gnu::visibility("default")]] executor* tilewise_tbb_executor(unsigned threads);

}  // namespace tilewise::backend::cpu
