// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_start.hpp"

#include "backend/group/mpi_launch.hpp"
#include "backend/group/mpi_watch.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tilewise::backend::group {

namespace {

namespace fs = std::filesystem;

constexpr const char *job_variable = "PMIX_NAMESPACE", *rank_variable = "PMIX_RANK",
                     *size_variable = "OMPI_COMM_WORLD_SIZE", *local_size_variable = "OMPI_COMM_WORLD_LOCAL_SIZE";

unsigned to_number(const std::string& text) { return static_cast<unsigned>(std::atoi(text.c_str())); }

unsigned number_from(const char* name) {
  const char* const told = std::getenv(name);
  return told == nullptr ? 0 : to_number(told);
}

/// Of the process, 'T' for stopped; 0 if it is gone.
char state_of(const fs::path& process) {
  const std::string facts = contents(process / "stat");  // 123 (the name) T ...
  const std::size_t name_end = facts.rfind(") ");
  return name_end == facts.npos ? '\0' : facts[name_end + 2];
}

/// The ranks of this job that are on this host, and whether they are stopped.
std::map<unsigned, bool> ranks_here(const std::string& job) {
  std::map<unsigned, bool> ranks;
  std::error_code unreadable;
  for (const auto& process : fs::directory_iterator("/proc", unreadable)) {
    const std::string environment = contents(process.path() / "environ");
    if (variable(environment, job_variable) != job) continue;
    const char state = state_of(process.path());
    if (state != '\0') ranks[to_number(variable(environment, rank_variable))] |= state == 'T';
  }
  return ranks;
}

[[noreturn]] void miss(unsigned own_rank, unsigned lost_rank, const std::string& has_done) {
  tell_lost(own_rank == (lost_rank == 0 ? 1 : 0) ? moment : until_mpirun_ends_others, lost_rank, has_done);
  end_without_others();
}

}  // namespace

start_watch::start_watch() {
  const char *const job = std::getenv(job_variable), *const own_rank = std::getenv(rank_variable);
  if (job != nullptr && own_rank != nullptr)
    thread_ = std::thread(
        [this, of = std::string(job), own = to_number(own_rank), now = clock::now()] { watch(of, own, now); });
}

start_watch::~start_watch() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void start_watch::watch(const std::string& job, unsigned own_rank, clock::time_point looked_at) {
  constexpr double every_s = 0.15;  // mpirun, which ends the others if one ends, leaves them a second
  const unsigned size = number_from(size_variable);
  const bool is_one_host = size != 0 && size == number_from(local_size_variable);
  constexpr int until_begun = -20;  // looks, for a process that has been forked but is not yet this program
  std::map<unsigned, int> missed;   // times, of ranks that have been started
  std::map<unsigned, double> stopped_for_s;
  bool is_explained = false;  // why others end: one was stopped, perhaps this one
  std::unique_lock lock(mutex_);
  do {
    constexpr std::chrono::seconds longer_than_any_wait(3);
    is_explained = is_explained || clock::now() - looked_at > longer_than_any_wait;
    looked_at = clock::now();
    const std::map<unsigned, bool> here = ranks_here(job);
    for (unsigned rank = 0; is_one_host && !here.empty() && rank < here.rbegin()->first; ++rank)
      missed.try_emplace(rank, until_begun);  // mpirun starts them in order
    for (auto& [rank, times] : missed) {
      times = here.count(rank) != 0 ? 0 : times + 1;
      if (times > 1 && !is_explained) miss(own_rank, rank, "has ended before it joined the others");
    }
    for (const auto& [rank, is_stopped] : here) {
      missed.try_emplace(rank, 0);
      double& seconds = stopped_for_s[rank];
      seconds = is_stopped ? seconds + every_s : 0;
      is_explained = is_explained || seconds > 1;
      if (seconds >= silent_for_s)
        miss(own_rank, rank, "has been stopped for " + std::to_string(silent_for_s) + " seconds");
    }
  } while (!ended_.wait_for(lock, std::chrono::duration<double>(every_s), [&] { return has_ended_; }));
}

}  // namespace tilewise::backend::group
