// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/figures.hpp"

#include "backend/backend.hpp"
#include "divide/pieces.hpp"
#include "io/array_input.hpp"
#include "io/npy.hpp"
#include "lab/bench/group.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/rounds.hpp"
#include "lab/time/statistics.hpp"
#include "lab/verify/verify.hpp"
#include "registry/catalog.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::lab {

namespace {

const growth* find(const device_figures& on, const std::string& name) {
  const auto found = on.computing.find(name);
  return found == on.computing.end() ? nullptr : &found->second;
}

double ns_of(double bytes, double bytes_per_s) { return bytes / bytes_per_s * 1e9; }

}  // namespace

double growth::ns_for(double operations_of_problem) const {
  return ns * std::pow(operations_of_problem / operations, power);
}

std::string figure_name(const registry::problem& p) {
  return std::string(p.what->name) + "." + std::string(name_of(size_of(p.type) == 4 ? dtype::f32 : dtype::f64));
}

std::optional<job_times> predict(const machine_figures& figures, const registry::problem& p, bool while_reading) {
  if (!figures.device) return std::nullopt;
  const device_figures& device = *figures.device;
  const growth* const here = find(figures.cpu, figure_name(p));
  const growth* const there = find(device, figure_name(p));
  if (here == nullptr || there == nullptr) return std::nullopt;
  const double in = registry::total_bytes(p.what->inputs(p)), out = registry::total_bytes(p.what->outputs(p));
  const double operations = p.what->operations(p), read = ns_of(in, figures.read_bytes_per_s);
  const double up = ns_of(in, device.upload_bytes_per_s), down = ns_of(out, device.download_bytes_per_s);
  const double computing = here->ns_for(operations), kernel = there->ns_for(operations);
  const bool in_pieces = p.what->divides != nullptr && in + out >= device.pieces_from_bytes;
  return job_times{.cpu_ns = while_reading ? std::max(read, computing) : read + computing,
                   .device_ns = device.start_ns + read + device.latency_ns +
                                (in_pieces ? std::max({up, kernel, down}) : up + kernel + down)};
}

namespace {

/// Large enough for the full speed of a link or of reading a file.
constexpr std::uint64_t moved_bytes = std::uint64_t{64} << 20;

/// Loose, since a prediction matters only if the times differ by much.
constexpr stop_rule figures_rule{.precision = 0.05, .min_samples = 3, .min_ns = 0, .max_samples = 10, .max_ns = 0.1e9};

double median_ns(const std::function<double(std::uint64_t calls)>& time) {
  const contender only{"", time};
  const series taken = measure_in_rounds(std::span(&only, 1), figures_rule).front();
  if (taken.ns.empty()) throw error(taken.failure_code.value_or(errc::device_lost), taken.failure);
  return summarize(taken.ns).median;
}

double host_ns(const std::function<void()>& call) {
  return median_ns([&](std::uint64_t calls) {
    const std::int64_t started = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) call();
    return static_cast<double>(now_ns() - started);
  });
}

void measure_transfers(backend::queue& queue, device_figures& to) {
  io::host_block host(moved_bytes);
  std::fill(host.begin(), host.end(), std::byte{1});
  const backend::buffer there(queue, moved_bytes);
  const auto up = [&](std::uint64_t bytes) { queue.upload(there, host.data(), bytes), queue.finish(); };
  const auto down = [&](std::uint64_t bytes) { queue.download(host.data(), there, bytes); };
  to.upload_bytes_per_s = moved_bytes / host_ns([&] { up(moved_bytes); }) * 1e9;
  to.download_bytes_per_s = moved_bytes / host_ns([&] { down(moved_bytes); }) * 1e9;
  to.latency_ns = host_ns([&] { up(1), down(1); });
  to.pieces_from_bytes = 2.0 * static_cast<double>(divide::piece_bytes(queue.device().info()));
}

/// The time for data that is on the device already, with the device's own choice of variant.
double computing_ns(const registry::problem& p, backend::device& on) {
  const registry::choice how = registry::choose(p, on);
  backend::queue& queue = on.queue();
  const call::operands operands(p, queue);
  operands.upload(call::pointers_to(make_inputs(p, data_for(p), 1)));
  return median_ns([&](std::uint64_t calls) {
    queue.start_clock();
    for (std::uint64_t i = 0; i < calls; ++i) how.variant->run(p, operands.where(), how.tuning, queue);
    return queue.stop_clock();
  });
}

/// From the two largest sizes of a first look.
growth measure_growth(const registry::algorithm& what, dtype type, backend::device& on) {
  const auto at = [&](const registry::extents& shape) {
    registry::problem p{.what = &what, .type = type, .shape = shape};
    give_numbers(p, 1);
    return growth{.operations = what.operations(p), .ns = computing_ns(p, on)};
  };
  const std::size_t sizes = what.quick_shapes.size();
  growth large = at(what.quick_shapes[sizes - 1]);
  if (sizes == 1) return large;
  const growth small = at(what.quick_shapes[sizes - 2]);
  const double power = std::log(large.ns / small.ns) / std::log(large.operations / small.operations);
  large.power = std::clamp(power, 0.0, 1.0);
  return large;
}

/// All algorithms but diffuse, which makes its field on the device.
bool starts_with_files(const registry::algorithm& what) { return what.name != "diffuse"; }

}  // namespace

double measure_reading(const memory_folder& folder) {
  const std::string path = folder.file("read.npy");
  const std::uint64_t shape[] = {moved_bytes / size_of(dtype::f32)};
  io::write_npy(path, dtype::f32, shape, generate(data_class::uniform, 1, dtype::f32, shape[0]));
  return moved_bytes / host_ns([&] { io::read_npy(path); }) * 1e9;
}

device_figures measure_device(backend::device& on, const std::function<void(const std::string&)>& tell) {
  const device_info& info = on.info();
  device_figures figures;
  figures.name = info.name;
  figures.identity = backend::identity_of(info);
  tell("transfers to " + info.name);
  if (info.backend != "cpu") measure_transfers(on.queue(), figures);
  for (const registry::algorithm* what : registry::algorithms())
    for (const dtype type : {dtype::f32, dtype::f64}) {
      const registry::problem p{.what = what, .type = type, .shape = what->quick_shapes.back()};
      const bool takes_it = std::find(what->types.begin(), what->types.end(), type) != what->types.end();
      if (!starts_with_files(*what) || !takes_it || (type == dtype::f64 && !info.fp64)) continue;
      tell(figure_name(p) + " on " + info.name);
      figures.computing.emplace(figure_name(p), measure_growth(*what, type, on));
    }
  return figures;
}

}  // namespace tilewise::lab
