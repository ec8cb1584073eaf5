// SPDX-License-Identifier: Apache-2.0
#include "backend/group/mpi_launch.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

namespace fs = std::filesystem;

/// What two kinds of launchers say: PMIx's, such as Open MPI's mpirun, and those of the older PMI, such as MPICH's.
struct launcher {
  const char *rank, *job;
};
constexpr launcher by_pmix{"PMIX_RANK", "PMIX_NAMESPACE"}, by_pmi{"PMI_RANK", "PMI_SIZE"};

std::string own_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// All of `text`.
std::optional<unsigned> whole_number(std::string_view text, int base = 10) {
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Whether a process on this host waits for others at the port in "tcp4://127.0.0.1:4711" or "host:4711".
bool is_listening(const std::string& address) {
  const std::optional<unsigned> port = whole_number(address.substr(address.find_last_of(':') + 1));
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; port && std::getline(lines, line);) {  // "0: 0100007F:1267 00000000:0000 0A ...", in hex
      std::istringstream fields(line);
      std::string number, local, remote, state;
      fields >> number >> local >> remote >> state;
      if (state == "0A" && whole_number(local.substr(local.find_last_of(':') + 1), 16) == port) return true;
    }
  }
  return false;
}

bool has_pmix_server() {
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text(*each);
    if (text.starts_with("PMIX_SERVER_URI") && is_listening(std::string(text))) return true;
  }
  return false;
}

bool has_pmi_server() {
  struct stat facts {};
  const std::optional<unsigned> line = whole_number(own_variable("PMI_FD"));
  if (line && *line > STDERR_FILENO && fstat(static_cast<int>(*line), &facts) == 0 && S_ISSOCK(facts.st_mode))
    return true;
  return is_listening(own_variable("PMI_PORT"));
}

/// Whether the rank is a process that has started this one, as a program that uses MPI starts others.
bool is_rank_of_parent(const launcher& by) {
  for (std::string parent = std::to_string(getppid());;) {
    const fs::path process = fs::path("/proc") / parent;
    const std::string environment = contents(process / "environ");
    for (const char* name : {by.rank, by.job})
      if (variable(environment, name) != own_variable(name)) return false;
    const std::string mapped = contents(process / "maps");
    if (mapped.find("/libmpi") != mapped.npos || mapped.find("/libpmi") != mapped.npos) return true;
    const std::string facts = contents(process / "stat");  // 123 (the name) S 122 ...
    std::istringstream fields(facts.substr(std::min(facts.size(), facts.rfind(") ") + 2)));
    if (std::string state; !(fields >> state >> parent)) return false;
  }
}

std::optional<unsigned> rank_of(const launcher& by, bool (*has_server)()) {
  const std::optional<unsigned> rank = whole_number(own_variable(by.rank));
  return rank && !own_variable(by.job).empty() && has_server() && !is_rank_of_parent(by) ? rank : std::nullopt;
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
  const std::optional<unsigned> rank = rank_of(by_pmix, has_pmix_server);
  return rank ? rank : rank_of(by_pmi, has_pmi_server);
}

bool has_lost_launcher() {
  const bool has_variables =
      !own_variable("OMPI_MCA_orte_local_daemon_uri").empty() || !own_variable(by_pmix.job).empty();
  return has_variables && !rank_by_launcher();
}

}  // namespace tilewise::backend::group
