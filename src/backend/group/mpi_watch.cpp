#include "backend/group/mpi_watch.hpp"

#include <array>
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

constexpr double told_every_s = 1, silent_for_s = 6;
constexpr char here = '.', ending = 'E';

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void tell(int socket, char what) { static_cast<void>(send(socket, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT)); }

}  // namespace

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

void rank_watch::begin(unsigned rank, const std::vector<std::string>& hosts) {
  rank_ = rank;
  hosts_ = hosts;
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
  double told_at = 0;
  while (!ends_) {
    std::vector<pollfd> ready;
    for (const line& l : lines_) ready.push_back({l.socket, POLLIN, 0});
    poll(ready.data(), ready.size(), 100);  // ms; also how soon the end is noticed
    for (std::size_t i = lines_.size(); i-- > 0;)
      if (ready[i].revents != 0 && !hears(lines_[i])) lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
    const double now = now_s();
    for (const line& l : lines_)
      if (!ends_ && now - l.heard_at > silent_for_s) give_up(l);
    if (now - told_at < told_every_s) continue;
    told_at = now;
    for (const line& l : lines_) tell(l.socket, here);
  }
}

/// False once the other side has ended, as it should or not: that is MPI's to report, which knows why.
bool rank_watch::hears(line& from) {
  std::array<char, 64> said{};
  const ssize_t length = recv(from.socket, said.data(), said.size(), MSG_DONTWAIT);
  if (length == 0) return false;
  if (length < 0) return true;
  from.heard_at = now_s();
  return std::memchr(said.data(), ending, static_cast<std::size_t>(length)) == nullptr;
}

void rank_watch::give_up(const line& lost) const {
  constexpr int device_lost = 8;
  std::fprintf(stderr, "tilewise: rank %u on %s has not answered for %.0f seconds; all ranks end\n", lost.rank,
               hosts_[lost.rank].c_str(), silent_for_s);
  _exit(device_lost);
}

}  // namespace tilewise::backend::group
