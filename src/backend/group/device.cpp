// SPDX-License-Identifier: Apache-2.0
#include "backend/group/device.hpp"

#include "backend/cpu/device.hpp"
#if TILEWISE_WITH_CUDA
#include "backend/cuda/device.hpp"
#endif
#include "backend/group/mpi_world.hpp"
#include "base/printable.hpp"

#include <charconv>
#include <numeric>
#include <set>

#include <unistd.h>

namespace tilewise::backend::group {

namespace {

using member_list = std::vector<std::shared_ptr<backend::device>>;

class group_device final : public backend::device {
 public:
  group_device(device_info info, member_list members, world* processes, std::string doubt)
      : device(std::move(info)), members_(std::move(members)), processes_(processes), doubt_(std::move(doubt)) {}
  std::span<const std::shared_ptr<backend::device>> members() const { return members_; }
  const std::string& doubt() const { return doubt_; }
  group_facts facts() const {
    if (processes_ != nullptr) return {processes_->size(), processes_->library()};
    return {static_cast<unsigned>(members_.size()), "threads"};
  }

 protected:
  std::unique_ptr<backend::queue> make_queue() override {
    return std::make_unique<group::queue>(*this, members_, processes_);
  }

 private:
  member_list members_;
  world* processes_;
  std::string doubt_;
};

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  throw error(errc::invalid_argument,
              "'" + std::string(name) + "' is not a group of devices: " + why +
                  "; write cuda:0+cuda:1, cuda:* for all of them, or 4*cpu:serial for four of a kind");
}

bool is_of_processes(std::string_view name) { return name == "mpi" || name.starts_with("mpi:"); }

/// Appends the members that `part` means: four for "4*cpu:serial", one per CUDA device for "cuda:*".
void append_names(std::vector<std::string>& names, std::string_view part, std::string_view whole) {
  constexpr unsigned most = 1024;
  const std::size_t star = part.find('*');
  if (part.empty()) refuse(whole, "a name is missing beside a +");
  if (star == part.npos) {
    names.emplace_back(part);
  } else if (star == part.size() - 1 && part.ends_with(":*")) {
    const std::string_view backend = part.substr(0, part.size() - 2);
    std::string why_none;
    const std::size_t before = names.size();
    for (const runtime& r : runtimes())
      if (r.name == backend && backend != "cpu")
        for (const auto& found : r.devices(why_none)) names.push_back(found->info().name);
    if (names.size() == before && backend == "cpu") refuse(whole, "cpu:* would be one processor several times");
    if (names.size() == before)
      throw error(errc::device_lost, "there is no device '" + std::string(part) + "'. " + why_none +
                                         (why_none.empty() ? "" : " ") + "`tilewise devices` lists what is here");
  } else {
    unsigned times = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + star, times);
    const std::string_view member = part.substr(star + 1);
    if (fault != std::errc() || end != part.data() + star || times == 0 || times > most || member.empty())
      refuse(whole, "before * belongs a number from 1 to " + std::to_string(most) + ", and one device after it");
    names.insert(names.end(), times, std::string(member));
  }
}

[[noreturn]] void refuse_nested(std::string_view name, std::string_view whole) {
  refuse(whole, "'" + base::printable(name) + "' in it is one already");
}

/// Opens the device of one rank, which must not be a group. Whether "auto" means a group is known only after opening
/// it.
std::shared_ptr<backend::device> find_member(std::string_view name, std::string_view whole,
                                             const open_options& options) {
  if (is_group(name)) refuse_nested(name, whole);
  auto member = backend::find_device(name, options);
  if (member->info().backend == "group") refuse_nested(name, whole);
  return member;
}

/// A key for the hardware, which is counted once if several ranks use it. All executors of a CPU are the same hardware.
std::string_view hardware_of(const device_info& rank) { return rank.backend == "cpu" ? rank.backend : rank.name; }

device_info describe(std::string_view name, const member_list& members) {
  device_info info;
  std::set<std::string_view> counted;
  info.name = name;
  info.backend = "group";
  info.is_cpu = info.fp64 = info.denormals = true;
  for (const auto& member : members) {
    const device_info& one = member->info();
    info.description += (info.description.empty() ? "" : " + ") + one.description;
    if (counted.insert(hardware_of(one)).second) info.compute_units += one.compute_units, info.memory += one.memory;
    info.is_cpu = info.is_cpu && one.is_cpu;
    info.fp64 = info.fp64 && one.fp64;
    info.denormals = info.denormals && one.denormals;
  }
  info.platform = std::to_string(members.size()) + (members.size() == 1 ? " rank" : " ranks") + " in one process";
  if (std::all_of(members.begin(), members.end(), [&](const auto& member) {
        return member->info().description == members.front()->info().description;
      }))
    info.description = std::to_string(members.size()) + " x " + members.front()->info().description;
  info.max_allocation = info.memory;
  return info;
}

/// The options with a number of threads, so that each CPU device gets its own team.
open_options with_threads(open_options options, std::uint64_t threads) {
  options.threads = std::max(1u, static_cast<unsigned>(threads));
  return options;
}

unsigned processors_here() { return backend::find_device("cpu", {})->info().compute_units; }

/// A warning if two ranks use one GPU, unless both are named by number, as in cuda:0+cuda:0.
std::string doubt_about_names(std::span<const std::string> names, const member_list& members) {
  for (unsigned second = 1; second < members.size(); ++second)
    for (unsigned first = 0; first < second; ++first) {
      const device_info& one = members[second]->info();
      const bool is_meant = names[first] == one.name && names[second] == one.name;
      if (one.name != members[first]->info().name || one.is_cpu || one.backend == "cpu" || is_meant) continue;
      return "ranks " + std::to_string(first) + " and " + std::to_string(second) + " share " + one.name + " (" +
             one.description + "); " + one.backend + ":* is a rank on each device of " + one.backend;
    }
  return "";
}

/// Collective: a warning if ranks in different processes use the same GPU.
std::string doubt_about_gpus(world& processes, const device_info& own, const gpu_identity& gpu) {
  const std::vector<gpu_identity> gpus = gathered(processes, gpu);
  std::array<char, 128> name{};
  (own.name + " (" + own.description + ")").copy(name.data(), name.size() - 1);
  const auto names = gathered(processes, name);
  const auto shared = find_sharing(gpus);
  if (!shared) return "";
  return "ranks " + std::to_string(shared->first) + " and " + std::to_string(shared->second) + " share the GPU " +
         names[shared->first].data() + "; start no more ranks than there are GPUs, and call their device cuda";
}

/// A warning if mpirun has bound the ranks to only some of the processors that mpirun itself may run on. For example,
/// Open MPI binds each of up to two processes to one core.
std::string doubt_about_processors(const world& processes, const backend::device& own) {
  const unsigned bound = base::processors_of_all(processes.local_processors());
  const std::size_t all = base::processors_of_process(getppid()).count();
  if (own.info().backend != "cpu" || own.info().name == "cpu:serial" || bound >= all) return "";
  return "the ranks of this host may run on " + std::to_string(bound) + " of " + std::to_string(all) +
         " processors; mpirun --bind-to none lets them run on all; if few are meant, --threads says how many each "
         "takes";
}

std::shared_ptr<backend::device> in_one_process(std::string_view name, const open_options& options) {
  std::vector<std::string> names;
  for (const std::string_view part : split(name, '+')) append_names(names, part, name);
  const auto cpus =
      std::count_if(names.begin(), names.end(), [](const std::string& one) { return one.starts_with("cpu"); });
  const unsigned threads = options.threads != 0 ? options.threads : processors_here();
  const open_options shared = cpus == 0 ? options : with_threads(options, threads / static_cast<std::uint64_t>(cpus));
  member_list members;
  for (const std::string& one : names) members.push_back(find_member(one, name, shared));
  device_info info = describe(name, members);
  std::string doubt = doubt_about_names(names, members);
  return std::make_shared<group_device>(std::move(info), std::move(members), nullptr, std::move(doubt));
}

/// The device of this rank: "mpi:cuda" means a different GPU for each rank on a machine.
std::string member_name(std::string wanted, const world& processes) {
  for (const runtime& r : runtimes()) {
    if (r.name != wanted || r.name == "cpu") continue;
    std::string why_none;
    const auto found = r.devices(why_none);
    if (!found.empty()) return found[processes.local_rank() % found.size()]->info().name;
  }
  return wanted.empty() ? "cpu" : wanted;
}

std::shared_ptr<backend::device> in_processes(std::string_view name, const open_options& options) {
  const std::string wanted(name.substr(std::min<std::size_t>(name.size(), 4)));
  if (is_group(wanted)) refuse_nested(wanted, name);  // before MPI is initialized
  world& processes = mpi();
  const bool has_number = options.threads != 0;
  const unsigned own = base::processors_of(processes.local_processors(), processes.local_rank());
  member_list members{
      find_member(member_name(wanted, processes), name, has_number ? options : with_threads(options, own))};
  device_info info = describe(name, members);
  info.platform = std::to_string(processes.size()) + (processes.size() == 1 ? " process" : " processes") + ", " +
                  processes.library();
  const bool shares_memory = members.front()->info().backend == "cpu" && processes.local_rank() != 0;
  const std::vector<std::uint64_t> memories = gathered(processes, shares_memory ? std::uint64_t{0} : info.memory);
  info.memory = info.max_allocation = std::accumulate(memories.begin(), memories.end(), std::uint64_t{0});
  std::string doubt = doubt_about_gpus(processes, members.front()->info(), identity_of(*members.front()));
  if (doubt.empty() && !has_number) doubt = doubt_about_processors(processes, *members.front());
  return std::make_shared<group_device>(std::move(info), std::move(members), &processes, std::move(doubt));
}

}  // namespace

bool is_group(std::string_view name) { return name.find_first_of("+*") != name.npos || is_of_processes(name); }

std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options) {
  return is_of_processes(name) ? in_processes(name, options) : in_one_process(name, options);
}

std::span<const std::shared_ptr<backend::device>> members_of(const backend::device& device) {
  return static_cast<const group_device&>(device).members();
}

std::string doubt_about(const backend::device& device) {
  return device.info().backend == "group" ? static_cast<const group_device&>(device).doubt() : "";
}

group_facts facts_of(const backend::device& device) { return static_cast<const group_device&>(device).facts(); }

gpu_identity identity_of(const backend::device& device) {
#if TILEWISE_WITH_CUDA
  if (device.info().backend == "cuda") return cuda::uuid_of(device);
#endif
  static_cast<void>(device);
  return {};
}

std::optional<sharing> find_sharing(std::span<const gpu_identity> of_ranks) {
  for (unsigned second = 1; second < of_ranks.size(); ++second)
    for (unsigned first = 0; first < second; ++first)
      if (of_ranks[first] == of_ranks[second] && of_ranks[first] != gpu_identity{}) return sharing{first, second};
  return std::nullopt;
}

}  // namespace tilewise::backend::group
