// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_meet.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Time limits: an address that a firewall drops, or in a network that the other host is not in, never answers.
constexpr milliseconds until_connected(1000), until_answered(5000);
constexpr char welcome = 'W';

struct introduction {
  std::uint64_t secret, rank;
};

/// Waits until the socket can be read or written; false if the time `by` passes first.
bool is_ready(int socket, short what, clock::time_point by) {
  pollfd one{socket, what, 0};
  const auto left = std::chrono::duration_cast<milliseconds>(by - clock::now()).count();
  return poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 1;
}

template <class T>
bool receive(int socket, T& into, milliseconds patience) {
  return is_ready(socket, POLLIN, clock::now() + patience) &&
         recv(socket, &into, sizeof into, MSG_DONTWAIT) == sizeof into;
}

template <class T>
bool say(int socket, const T& what) {
  return send(socket, &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof what;
}

sockaddr_in at_port(std::uint16_t port) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_port = htons(port);
  return all;
}

/// Loopback comes first, so that ranks on one host do not depend on its networks.
std::string addresses_of_host() {
  std::string found = " 127.0.0.1";
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0 ||
        (one->ifa_flags & IFF_UP) == 0)
      continue;
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
    found += std::string(" ") + text;
  }
  freeifaddrs(all);
  return found;
}

int connected(const sockaddr_in& to) {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  static_cast<void>(connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  int failed = 0;
  socklen_t length = sizeof failed;
  if (is_ready(made, POLLOUT, clock::now() + until_connected) &&
      getsockopt(made, SOL_SOCKET, SO_ERROR, &failed, &length) == 0 && failed == 0)
    return made;
  close(made);
  return -1;
}

}  // namespace

rendezvous::rendezvous() : secret_(std::random_device()() * (std::uint64_t{1} << 32) + std::random_device()()) {
  sockaddr_in any = at_port(0);
  socklen_t length = sizeof any;
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &length) != 0)
    return;
  address_ = std::to_string(secret_) + " " + std::to_string(ntohs(any.sin_port)) + addresses_of_host();
  if (address_.size() > longest_address) address_.erase(address_.rfind(' ', longest_address));
}

rendezvous::~rendezvous() {
  if (listener_ >= 0) close(listener_);
}

std::vector<int> rendezvous::sockets(unsigned ranks) const {
  std::vector<int> of_rank(ranks - 1, -1);
  const auto addresses = std::count(address_.begin(), address_.end(), ' ');
  const auto by = clock::now() + addresses * until_connected + until_answered;
  while (std::count(of_rank.begin(), of_rank.end(), -1) != 0 && is_ready(listener_, POLLIN, by)) {
    int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    introduction who{};
    const bool is_rank = receive(from, who, until_connected) && who.secret == secret_ && who.rank - 1 < of_rank.size();
    if (is_rank && say(from, welcome)) std::swap(of_rank[who.rank - 1], from);
    close(from);
  }
  if (std::count(of_rank.begin(), of_rank.end(), -1) == 0) return of_rank;
  for (const int one : of_rank) close(one);
  return {};
}

std::vector<int> reach(const std::string& address, unsigned own_rank) {
  std::istringstream words(address);
  introduction me{0, own_rank};
  std::uint16_t port = 0;
  words >> me.secret >> port;
  sockaddr_in to = at_port(port);
  for (std::string one; words >> one;) {
    if (inet_pton(AF_INET, one.c_str(), &to.sin_addr) != 1) continue;
    const int made = connected(to);
    char answer = 0;
    if (say(made, me) && receive(made, answer, until_answered) && answer == welcome) return {made};
    close(made);
  }
  return {};
}

}  // namespace tilewise::backend::group
