// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_watch.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

constexpr double told_every_s = 1;
constexpr char here = '.', ending = 'E', failing = 'F';

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void tell(int socket, char what) { static_cast<void>(send(socket, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT)); }

}  // namespace

void give_up(unsigned own_rank, unsigned lost_rank, const std::string& has_done) {
  using std::chrono::milliseconds;
  constexpr milliseconds until_all_are_ended(200), until_mpirun_ends_others(3000);
  constexpr int device_lost = 8;
  const bool speaks = own_rank == (lost_rank == 0 ? 1 : 0);
  std::this_thread::sleep_for(speaks ? until_all_are_ended : until_mpirun_ends_others);  // perhaps mpirun ends all now
  std::fprintf(stderr, "tilewise: rank %u %s; all ranks end\n", lost_rank, has_done.c_str());
  _exit(device_lost);
}

std::string rank_watch::listen() {
  std::array<char, 256> host{};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t length = sizeof any;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &length) != 0 ||
      gethostname(host.data(), host.size() - 1) != 0)
    return "";
  return std::string(host.data()) + " " + std::to_string(ntohs(any.sin_port));
}

bool rank_watch::connect(const std::string& address) {
  const std::size_t space = address.find(' ');
  if (space == address.npos) return false;
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address.substr(0, space).c_str(), address.substr(space + 1).c_str(), &wanted, &found) != 0)
    return false;
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_there = made >= 0 && ::connect(made, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (is_there) lines_.push_back({made, 0, 0});
  return is_there;
}

void rank_watch::begin(unsigned rank, const std::vector<std::string>& hosts, std::function<bool()> is_over) {
  rank_ = rank;
  hosts_ = hosts;
  is_over_ = std::move(is_over);
  if (rank_ != 0) {
    const auto number = static_cast<std::uint32_t>(rank_);
    static_cast<void>(send(lines_.front().socket, &number, sizeof number, MSG_NOSIGNAL));
  }
  for (std::size_t i = 1; rank_ == 0 && i < hosts_.size(); ++i) {
    std::uint32_t number = 0;
    const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (recv(from, &number, sizeof number, MSG_WAITALL) == sizeof number) lines_.push_back({from, number, 0});
  }
  for (line& l : lines_) l.heard_at = now_s();
  thread_ = std::thread([this] { watch(); });
}

void rank_watch::tell_failure() {
  ends_ = true;  // mpirun may end others before this one, which is nothing to complain of
  for (const line& l : lines_) tell(l.socket, failing);
}

rank_watch::~rank_watch() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  for (const line& l : lines_) {
    tell(l.socket, ending);
    close(l.socket);
  }
  if (listener_ >= 0) close(listener_);
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
      if (done.empty() || ends_ || is_over_()) continue;
      tell_failure();  // or the next one would complain of this one
      give_up(rank_, l.rank, "on " + hosts_[l.rank] + " " + done);
    }
    if (now - told_at < told_every_s) continue;
    told_at = now;
    for (const line& l : lines_) tell(l.socket, here);
  }
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
  from.has_said_so = from.has_said_so || has_said(ending) || has_said(failing);
  from.has_ended = length <= 0 || has_said(ending);
}

}  // namespace tilewise::backend::group
