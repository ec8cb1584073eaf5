#include "backend/group/group_device.hpp"

#include "backend/cpu/cpu_device.hpp"

#include <charconv>

namespace tilewise::backend::group {

namespace {

using member_list = std::vector<std::shared_ptr<backend::device>>;

class group_device final : public backend::device {
 public:
  group_device(device_info info, member_list members) : device(std::move(info)), members_(std::move(members)) {}
  std::span<const std::shared_ptr<backend::device>> members() const { return members_; }

 protected:
  std::unique_ptr<backend::queue> make_queue() override { return std::make_unique<group::queue>(*this, members_); }

 private:
  member_list members_;
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

/// "4*cpu:serial" is four names, "cuda:*" as many as there are.
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
    if (names.size() == before) refuse(whole, "there are no devices " + std::string(part) + ". " + why_none);
  } else {
    unsigned times = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + star, times);
    if (fault != std::errc() || end != part.data() + star || times == 0 || times > most || star + 1 == part.size())
      refuse(whole, "before * stands a number from 1 to " + std::to_string(most) + ", and behind it a device");
    names.insert(names.end(), times, std::string(part.substr(star + 1)));
  }
}

device_info describe(std::string_view name, const member_list& members) {
  device_info info;
  info.name = name;
  info.backend = "group";
  info.is_cpu = info.fp64 = info.denormals = true;
  for (const auto& member : members) {
    const device_info& one = member->info();
    info.description += (info.description.empty() ? "" : " + ") + one.description;
    info.compute_units += one.compute_units;
    info.memory += one.memory;
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

}  // namespace

bool is_group(std::string_view name) { return name.find_first_of("+*") != name.npos; }

std::shared_ptr<backend::device> make_device(std::string_view name, const open_options& options) {
  std::vector<std::string> names;
  for (const std::string_view part : split(name, '+')) append_names(names, part, name);
  const auto cpus =
      std::count_if(names.begin(), names.end(), [](const std::string& one) { return one.starts_with("cpu"); });
  open_options shared = options;  // with a number of threads each CPU device has a team of its own
  if (cpus != 0) {
    const unsigned all = options.threads != 0 ? options.threads : backend::find_device("cpu", {})->info().compute_units;
    shared.threads = std::max(1u, all / static_cast<unsigned>(cpus));
  }
  member_list members;
  for (const std::string& one : names) members.push_back(backend::find_device(one, shared));
  return std::make_shared<group_device>(describe(name, members), std::move(members));
}

std::span<const std::shared_ptr<backend::device>> members_of(const backend::device& device) {
  return static_cast<const group_device&>(device).members();
}

}  // namespace tilewise::backend::group
