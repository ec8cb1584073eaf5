// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_launch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

namespace fs = std::filesystem;

/// The variables that the two kinds of launchers set: those with PMIx, such as Open MPI's mpirun, and those with the
/// older PMI, such as MPICH's.
struct launcher {
  const char *rank, *job;
};
constexpr launcher by_pmix{"PMIX_RANK", "PMIX_NAMESPACE"}, by_pmi{"PMI_RANK", "PMI_SIZE"};

std::string own_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The number, if all of `text` is one.
std::optional<unsigned> whole_number(std::string_view text, int base = 10) {
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// What identifies a launcher on this host: its sockets, as /proc/PID/fd names them, or the process that created
/// PMI_FD.
struct server {
  std::set<std::string> waiting, connected;
  pid_t at_descriptor = 0;
};

/// Adds the sockets that listen on, or are connected to, the port in an address such as "tcp4://127.0.0.1:4711" or
/// "host:4711".
void add_sockets(const std::string& address, server& to) {
  const auto port_of = [](const std::string& end, int base) {
    return whole_number(std::string_view(end).substr(end.find_last_of(':') + 1), base);
  };
  const std::optional<unsigned> port = port_of(address, 10);
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; port && std::getline(lines, line);) {
      std::istringstream fields(line);
      std::array<std::string, 10> field;  // "0:", "0100007F:1267" here, "00000000:0000" there, "0A", ..., the inode
      for (std::string& each : field) fields >> each;
      if (field[3] == "0A" && port_of(field[1], 16) == port) to.waiting.insert("socket:[" + field[9] + "]");
      if (field[3] == "01" && port_of(field[2], 16) == port) to.connected.insert("socket:[" + field[9] + "]");
    }
  }
}

server pmix_server() {
  server found;
  for (char** each = environ; *each != nullptr; ++each)
    if (const std::string text(*each); text.starts_with("PMIX_SERVER_URI")) add_sockets(text, found);
  return found;
}

server pmi_server() {
  server found;
  ucred maker{};
  socklen_t size = sizeof maker;
  const std::optional<unsigned> line = whole_number(own_variable("PMI_FD"));
  if (line && *line > STDERR_FILENO && getsockopt(static_cast<int>(*line), SOL_SOCKET, SO_PEERCRED, &maker, &size) == 0)
    found.at_descriptor = maker.pid;
  add_sockets(own_variable("PMI_PORT"), found);
  return found;
}

/// Whether the process has one of the sockets open; nothing if its descriptors are not readable.
std::optional<bool> holds(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code unreadable, gone;
  for (const auto& descriptor : fs::directory_iterator(process / "fd", unreadable))
    if (sockets.count(fs::read_symlink(descriptor.path(), gone).string()) != 0) return true;
  return unreadable ? std::nullopt : std::optional(false);
}

/// Whether the process is the launcher. Another user's launcher, such as Slurm's, cannot be inspected and counts as
/// one; process 1 does not, since it adopts orphaned processes.
bool is_launcher(const fs::path& process, const server& known) {
  if (known.at_descriptor != 0 && process.filename() == std::to_string(known.at_descriptor)) return true;
  const bool has_sockets = !known.waiting.empty();
  return has_sockets && holds(process, known.waiting).value_or(process.filename() != "1");
}

/// Whether the process is a rank, or will become one: it has loaded MPI. If MPI may only be preloaded, it must also be
/// connected to the launcher.
bool is_rank(const fs::path& process, const std::string& environment, const server& known) {
  const std::string mapped = contents(process / "maps");
  const bool has_mpi = mapped.find("/libmpi") != mapped.npos || mapped.find("/libpmi") != mapped.npos;
  return has_mpi && (variable(environment, "LD_PRELOAD").empty() || holds(process, known.connected).value_or(true));
}

/// Whether the launcher has started this process, directly or through programs that pass on its variables. False if one
/// of these programs uses MPI, since that is then the rank. Also false if the process was orphaned, or has its
/// variables from elsewhere.
bool is_started_by(const server& known, const launcher& by) {
  for (std::string parent = std::to_string(getppid());;) {
    const fs::path process = fs::path("/proc") / parent;
    const std::string environment = contents(process / "environ");
    for (const char* name : {by.rank, by.job})
      if (variable(environment, name) != own_variable(name)) return is_launcher(process, known);
    if (is_rank(process, environment, known)) return false;
    const std::string facts = contents(process / "stat");  // 123 (the name) S 122 ...
    std::istringstream fields(facts.substr(std::min(facts.size(), facts.rfind(") ") + 2)));
    if (std::string state; !(fields >> state >> parent)) return false;
  }
}

std::optional<unsigned> rank_of(const launcher& by, server (*find)()) {
  const std::optional<unsigned> rank = whole_number(own_variable(by.rank));
  return rank && !own_variable(by.job).empty() && is_started_by(find(), by) ? rank : std::nullopt;
}

}  // namespace

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string variable(const std::string& environment, const std::string& name) {
  const std::string all = '\0' + environment, wanted = '\0' + name + '=';
  const std::size_t at = all.find(wanted);
  return at == all.npos ? "" : all.substr(at + wanted.size(), all.find('\0', at + 1) - at - wanted.size());
}

std::optional<unsigned> rank_by_launcher() {
  const std::optional<unsigned> rank = rank_of(by_pmix, pmix_server);
  return rank ? rank : rank_of(by_pmi, pmi_server);
}

std::optional<unsigned> ranks_by_pmi() {
  return rank_of(by_pmix, pmix_server) ? std::nullopt : whole_number(own_variable(by_pmi.job));
}

bool has_lost_launcher() {
  const bool has_variables =
      !own_variable("OMPI_MCA_orte_local_daemon_uri").empty() || !own_variable(by_pmix.job).empty();
  return has_variables && !rank_by_launcher();
}

}  // namespace tilewise::backend::group
