// SPDX-License-Identifier: Apache-2.0
// Replaces what readers name but never run: the CPU's devices, MPI's processes, queues of groups, and stepping a
// diffusion.
#include "backend/cpu/device.hpp"
#include "backend/group/mpi_world.hpp"

#include "registry/algorithm.hpp"

#include <tilewise/diffuse.hpp>
#include <tilewise/error.hpp>

// A queue's constructor and destructor, by their symbols; by name the whole class would be needed here.
extern "C" {
[[noreturn]] void make_no_queue() asm(
    "_ZN8tilewise7backend5group5queueC1ERKNS0_6deviceESt4spanIKSt10shared_ptrIS3_ELm18446744073709551615EEPNS1_"
    "5worldE");
void make_no_queue() { std::abort(); }
[[noreturn]] void end_no_queue() asm("_ZN8tilewise7backend5group5queueD1Ev");
void end_no_queue() { std::abort(); }
}

namespace tilewise {

double largest_stable_rate(const diffusion&) { std::abort(); }
namespace impl::diffuse {
const registry::algorithm& diffuse_algorithm() { std::abort(); }
}  // namespace impl::diffuse

}  // namespace tilewise

namespace tilewise::backend {

namespace {

class named_device final : public device {
 public:
  using device::device;

 protected:
  std::unique_ptr<backend::queue> make_queue() override { std::abort(); }
};

}  // namespace

namespace cpu {

std::shared_ptr<device> make_device(std::string_view name, const open_options&) {
  if (name != "cpu" && name != "cpu:serial" && name != "cpu:threads")
    throw error(errc::device_lost, "there is no device '" + std::string(name) + "'");
  device_info info;
  info.name = name;
  info.backend = "cpu";
  info.compute_units = 2;
  return std::make_shared<named_device>(std::move(info));
}

std::vector<std::shared_ptr<device>> devices(std::string&) {
  return {make_device("cpu:serial", {}), make_device("cpu:threads", {})};
}

}  // namespace cpu

group::world& group::mpi() { throw error(errc::unsupported, "there are no processes here"); }

}  // namespace tilewise::backend
