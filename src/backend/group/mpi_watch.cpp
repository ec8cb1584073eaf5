// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_watch.hpp"

#include "backend/group/mpi_launch.hpp"
#include "base/host.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

/// How long a rank may be silent, or stopped.
constexpr unsigned silent_for_s = 6;

/// How long a rank that misses another one waits before it prints that. Only one rank should print it, and mpirun,
/// which notices when a process ends, may end all of them first. It takes seconds to reach other hosts.
constexpr std::chrono::milliseconds moment(200), until_mpirun_ends_others(3000);

constexpr double told_every_s = 1;
constexpr char here = '.', ending = 'E', failing = 'F', given_up = 'G';

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void tell(int socket, char what) { static_cast<void>(send(socket, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT)); }

/// Prints, after waiting, what a rank has done, such as "on node7 has ended".
void tell_lost(std::chrono::milliseconds patience, unsigned lost_rank, const std::string& has_done) {
  std::this_thread::sleep_for(patience);
  std::fprintf(stderr, "tilewise: rank %u %s; all ranks end\n", lost_rank, has_done.c_str());
}

/// Ends this process with the exit code of a lost device.
[[noreturn]] void end_without_others() {
  constexpr int device_lost = 8;
  _exit(device_lost);
}

}  // namespace

rank_watch::rank_watch(unsigned rank, std::vector<std::string> hosts, const std::vector<int>& sockets,
                       std::function<bool()> is_over)
    : rank_(rank), hosts_(std::move(hosts)), is_over_(std::move(is_over)) {
  for (const int socket : sockets) lines_.push_back({socket, rank_ == 0 ? unsigned(lines_.size() + 1) : 0, now_s()});
  thread_ = std::thread([this] { watch(); });
}

void rank_watch::tell_failure() {
  ends_ = true;  // mpirun may end other ranks before this one; do not report them
  tell_all(failing);
}

void rank_watch::tell_all(char what) const {
  for (const line& l : lines_) tell(l.socket, what);
}

rank_watch::~rank_watch() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  for (const line& l : lines_) {
    tell(l.socket, ending);
    close(l.socket);
  }
}

void rank_watch::watch() {
  double told_at = 0, looked_at = now_s();
  while (!ends_) {
    std::vector<pollfd> ready;
    for (const line& l : lines_) ready.push_back({l.has_ended ? -1 : l.socket, POLLIN, 0});
    poll(ready.data(), ready.size(), 100);  // in ms; also the delay until the end is noticed
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (ready[i].revents != 0) hear(lines_[i]);
    const double now = now_s();
    if (now - looked_at > silent_for_s / 2)  // this process was itself stopped; perhaps the others were too
      for (line& l : lines_) l.heard_at = now;
    looked_at = now;
    for (const line& l : lines_) {
      const std::string done = complaint(l, now);
      if (!done.empty() && !ends_ && !is_over_()) miss(l, "on " + hosts_[l.rank] + " " + done);
    }
    if (now - told_at < told_every_s) continue;
    told_at = now;
    tell_all(here);
  }
}

/// Whether this rank should print the loss first. Only rank 0 can miss another rank. If rank 0 itself is lost, the
/// first rank on another host prints it, since rank 0's whole host may be lost.
bool rank_watch::is_first_to_tell(unsigned lost_rank) const {
  if (lost_rank != 0) return true;
  const auto elsewhere =
      std::find_if(hosts_.begin(), hosts_.end(), [&](const auto& host) { return host != hosts_[0]; });
  return rank_ == (elsewhere == hosts_.end() ? 1 : elsewhere - hosts_.begin());
}

void rank_watch::give_up() const {
  if (void (*const work)() noexcept = last_work_; work != nullptr) work();
  end_without_others();
}

void rank_watch::miss(const line& lost, const std::string& has_done) {
  tell_failure();  // so that the others do not report this rank
  const bool is_for_mpirun = lost.has_ended && hosts_[lost.rank] != hosts_[rank_];
  const std::chrono::milliseconds patience = is_for_mpirun ? until_mpirun_ends_others : moment;
  if (is_first_to_tell(lost.rank))
    tell_lost(patience, lost.rank, has_done);
  else
    std::this_thread::sleep_for(patience + std::chrono::seconds(1));  // until the other rank has printed it
  tell_all(given_up);
  give_up();
}

std::string rank_watch::complaint(const line& about, double now) {
  if (about.has_ended) return about.has_said_so ? "" : "has ended before its time";
  return now - about.heard_at > silent_for_s ? "has not answered for " + std::to_string(silent_for_s) + " seconds" : "";
}

void rank_watch::hear(line& from) {
  std::array<char, 64> said{};
  const ssize_t length = recv(from.socket, said.data(), said.size(), MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  from.heard_at = now_s();
  const auto has_said = [&](char what) {
    return length > 0 && std::memchr(said.data(), what, static_cast<std::size_t>(length)) != nullptr;
  };
  if (from.rank == 0 && has_said(failing)) first_has_failed_ = true;
  if (from.rank == 0 && has_said(given_up) && !is_over_()) give_up();
  from.has_said_so = from.has_said_so || has_said(ending) || has_said(failing);
  from.has_ended = length <= 0 || has_said(ending);
}

namespace {

namespace fs = std::filesystem;

constexpr const char *job_variable = "PMIX_NAMESPACE", *rank_variable = "PMIX_RANK",
                     *size_variable = "OMPI_COMM_WORLD_SIZE", *local_size_variable = "OMPI_COMM_WORLD_LOCAL_SIZE";

unsigned to_number(const std::string& text) { return static_cast<unsigned>(std::atoi(text.c_str())); }

unsigned number_from(const char* name) {
  const char* const told = std::getenv(name);
  return told == nullptr ? 0 : to_number(told);
}

/// The process's state, such as 'T' for stopped; 0 if it is gone.
char state_of(const fs::path& process) {
  const std::string facts = contents(process / "stat");  // 123 (the name) T ...
  const std::size_t name_end = facts.rfind(") ");
  return name_end == facts.npos ? '\0' : facts[name_end + 2];
}

/// The ranks of this job on this host, and whether they are stopped.
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
  tell_lost(own_rank == (lost_rank == 0 ? 1 : 0) ? moment : until_mpirun_ends_others, lost_rank,
            "on " + base::host_name() + " " + has_done);
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
  constexpr double every_s = 0.15;  // if one rank ends, mpirun gives the others a second before it ends them
  const unsigned size = number_from(size_variable);
  const bool is_one_host = size != 0 && size == number_from(local_size_variable);
  constexpr int until_begun = -20;  // counted in looks: a process may be forked but not yet run this program
  std::map<unsigned, int> missed;   // how often in a row each started rank was not found
  std::map<unsigned, double> stopped_for_s;
  bool is_explained = false;  // other ranks may end because one, perhaps this one, was stopped
  std::unique_lock lock(mutex_);
  do {
    constexpr std::chrono::seconds longer_than_any_wait(3);
    is_explained = is_explained || clock::now() - looked_at > longer_than_any_wait;
    looked_at = clock::now();
    const std::map<unsigned, bool> here = ranks_here(job);
    for (unsigned rank = 0; is_one_host && !here.empty() && rank < here.rbegin()->first; ++rank)
      missed.try_emplace(rank, until_begun);  // mpirun starts ranks in order, so lower ones have been started
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
