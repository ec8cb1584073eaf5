// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

constexpr double told_every_s = 1;
constexpr char here = '.', ending = 'E', failing = 'F', given_up = 'G';

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void tell(int socket, char what) { static_cast<void>(send(socket, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT)); }

}  // namespace

void tell_lost(std::chrono::milliseconds patience, unsigned lost_rank, const std::string& has_done) {
  std::this_thread::sleep_for(patience);
  std::fprintf(stderr, "tilewise: rank %u %s; all ranks end\n", lost_rank, has_done.c_str());
}

void end_without_others() {
  constexpr int device_lost = 8;
  _exit(device_lost);
}

rank_watch::rank_watch(unsigned rank, std::vector<std::string> hosts, const std::vector<int>& sockets,
                       std::function<bool()> is_over)
    : rank_(rank), hosts_(std::move(hosts)), is_over_(std::move(is_over)) {
  for (const int socket : sockets) lines_.push_back({socket, rank_ == 0 ? unsigned(lines_.size() + 1) : 0, now_s()});
  thread_ = std::thread([this] { watch(); });
}

void rank_watch::tell_failure() {
  ends_ = true;  // mpirun may end others before this one, which is nothing to complain of
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
    poll(ready.data(), ready.size(), 100);  // ms; also how soon the end is noticed
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (ready[i].revents != 0) hear(lines_[i]);
    const double now = now_s();
    if (now - looked_at > silent_for_s / 2)  // this process was stopped itself, as the others may have been
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

/// Only rank 0 misses another rank; of those who miss it, one that its host has not taken along.
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
  tell_failure();  // or the next one would complain of this one
  const bool is_for_mpirun = lost.has_ended && hosts_[lost.rank] != hosts_[rank_];
  const std::chrono::milliseconds patience = is_for_mpirun ? until_mpirun_ends_others : moment;
  if (is_first_to_tell(lost.rank))
    tell_lost(patience, lost.rank, has_done);
  else
    std::this_thread::sleep_for(patience + std::chrono::seconds(1));  // until it is told
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

}  // namespace tilewise::backend::group
