// SPDX-License-Identifier: Apache-2.0
#include "lab/roofline/measure.hpp"

#include "backend/cpu/device.hpp"
#include "backend/roofs.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/machine/environment.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"
#include "registry/catalog.hpp"
#include "registry/choose.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::lab {

namespace {

/// Precise enough to compare machines, and levels that differ by 15 %; an interval needs six samples.
constexpr stop_rule roofs_rule{.precision = 0.02, .min_samples = 7, .min_ns = 0, .max_samples = 15, .max_ns = 0.1e9};

/// Memory that has been written. Pages that were never written all map to one page of zeros, which fits any cache.
class written_memory {
 public:
  written_memory(backend::queue& queue, std::uint64_t bytes) : all_(queue, bytes) {
    const std::vector<std::byte> part(std::min(bytes, std::uint64_t{16} << 20), std::byte{0x5a});
    for (std::uint64_t at = 0; at < bytes; at += part.size()) {
      const std::uint64_t length = std::min<std::uint64_t>(part.size(), bytes - at);
      queue.upload(backend::memory(all_).at(at, length), part.data(), length);
    }
    queue.finish();
  }
  backend::memory first(std::uint64_t bytes) const { return backend::memory(all_).at(0, bytes); }

 private:
  backend::buffer all_;
};

/// A roof to measure. The work of one call is known only after it has run.
struct roof {
  ceiling which;
  dtype type;
  std::uint64_t size;  // bytes of the working set, or of an element for a launch; 0 for arithmetic
  std::function<double()> call;
  double work = 0;
};

std::vector<roof> arithmetic_of(backend::queue& queue) {
  std::vector<roof> all;
  for (const dtype type : {dtype::f32, dtype::f64, dtype::i32, dtype::i64})
    for (const ceiling which : {ceiling::fma, ceiling::muladd}) {
      if (!is_float(type) && which == ceiling::muladd) continue;  // for integers it is the same as fma
      if (type == dtype::f64 && !queue.device().info().fp64) continue;
      all.push_back({which, type, 0, [&queue, which, type] { return operations_of(which, type, queue); }});
    }
  return all;
}

std::vector<roof> readings_of(backend::queue& queue, const backend::roofs& roofs, const written_memory& memory,
                              std::span<const std::uint64_t> sizes) {
  std::vector<roof> all;
  for (const std::uint64_t size : sizes)
    all.push_back({ceiling::read, dtype::u64, size,
                   [&queue, &roofs, what = memory.first(size)] { return roofs.read(queue, what); }});
  return all;
}

/// An empty kernel counts as moving one element.
roof launch_of(backend::queue& queue, const backend::roofs& roofs) {
  constexpr auto type = dtype::u64;
  return {ceiling::launch, type, size_of(type), [&queue, &roofs] {
            roofs.launch(queue);
            return static_cast<double>(size_of(type));
          }};
}

contender contender_of(roof& of, backend::queue& queue) {
  const auto time = [&of, &queue](std::uint64_t calls) {
    queue.start_clock();
    for (std::uint64_t i = 0; i < calls; ++i) of.work = of.call();
    return queue.stop_clock();
  };
  // An untimed call first, so that the working set is already in its cache.
  const auto settle = [&of, &queue] { of.call(), queue.finish(); };
  return {std::string(name_of(of.which)) + " " + std::to_string(of.size), time, settle};
}

record::result record_of(const roof& of, const series& taken, backend::device& on) {
  const std::string name(name_of(of.which)), type(name_of(of.type));
  const device_info& info = on.info();
  record::result r;
  r.device = device_facts(info);
  const std::string problem = name + "." + type + (of.size == 0 ? "" : " n=" + std::to_string(of.size));
  r.what = {.group = problem + " @" + (info.backend == "cpu" ? "cpu" : info.name),
            .algorithm = name,
            .variant = name + "/" + info.backend,
            .backend = info.backend,
            .name = "",
            .source = "",
            .dtype = type,
            .shape = {of.size},
            .n = of.size,
            .settings = {},
            .tuning = "",
            .tuned_at = {},
            .data = "constant",
            .threads = {},
            .mode = std::string(name_of(mode::hot))};
  (of.size == 0 ? r.what.operations : r.what.bytes_min) = of.work;
  if (info.backend == "cpu") r.what.threads = static_cast<backend::cpu::queue&>(on.queue()).threads();
  if (taken.ns.empty() || of.work <= 0) {
    r.state = record::status::failed;
    r.reason = taken.failure.empty() ? "this device has nothing to measure it by" : taken.failure;
    return r;
  }
  r.timing.emplace().kernel = clock_of(taken);
  r.timing->clock_name = on.queue().clock_name();
  r.timing->clock_resolution_ns = static_cast<std::uint64_t>(clock_resolution_ns());
  record::rates& rates = r.derived.emplace();
  // The fastest sample counts: other programs can only slow the device down.
  const double per_s = of.work / *r.timing->kernel->min_ns * 1e9;
  rates.bound_by = of.which;
  rates.fraction_of_ceiling = 1;
  rates.operations_per_s.emplace();
  rates.ceiling_operations_per_s.emplace();
  if (of.size == 0)
    rates.operations_per_s = rates.ceiling_operations_per_s = record::maybe_number(per_s);
  else
    rates.bytes_per_s = rates.ceiling_bytes_per_s = per_s;
  return r;
}

std::vector<record::result> measured_in_rounds(std::vector<roof>& all, backend::device& on, const round_hooks& hooks) {
  std::vector<contender> contenders;
  for (roof& r : all) contenders.push_back(contender_of(r, on.queue()));
  const std::vector<series> taken = measure_in_rounds(contenders, roofs_rule, hooks);
  std::vector<record::result> records;
  for (std::size_t i = 0; i < all.size(); ++i) records.push_back(record_of(all[i], taken[i], on));
  return records;
}

}  // namespace

std::vector<std::uint64_t> working_sets(const device_info& on, std::uint64_t least) {
  constexpr std::uint64_t page = 4096, unknown_cache = std::uint64_t{64} << 20, longest = std::uint64_t{4} << 30;
  // OpenCL on NVIDIA reports the caches of its units, 4 MiB in all, although the device's cache has 50 MiB.
  constexpr std::uint64_t largest_of_gpus = std::uint64_t{256} << 20;
  const std::uint64_t told = on.cache != 0 ? on.cache : unknown_cache;
  const std::uint64_t cache = on.is_cpu ? told : std::max(told, largest_of_gpus);
  const std::uint64_t room = std::min(on.memory / 4, on.max_allocation != 0 ? on.max_allocation : on.memory);
  const std::uint64_t most = std::min({4 * cache, room, longest});
  std::vector<std::uint64_t> sizes;
  for (int quarter = 0;; ++quarter) {
    const double size = static_cast<double>(least) * std::exp2(quarter / 4.0);
    if (size > static_cast<double>(most) * 1.0001) return sizes;
    const std::uint64_t whole = static_cast<std::uint64_t>(size) / page * page;
    if (whole != 0 && (sizes.empty() || whole > sizes.back())) sizes.push_back(whole);
  }
}

std::vector<record::result> measure_roofs(backend::device& on, const round_hooks& hooks) {
  const backend::roofs* const roofs = backend::roofs_of(on.info().backend);
  if (roofs == nullptr) return {};
  backend::queue& queue = on.queue();
  std::vector<std::uint64_t> sizes;
  if (roofs->read != nullptr) sizes = working_sets(on.info(), roofs->least_read(on.info()));
  std::vector<roof> all = arithmetic_of(queue);
  if (roofs->launch != nullptr) all.push_back(launch_of(queue, *roofs));
  std::optional<written_memory> memory;
  if (!sizes.empty()) {
    memory.emplace(queue, sizes.back());
    for (roof& r : readings_of(queue, *roofs, *memory, sizes)) all.push_back(std::move(r));
  }
  return measured_in_rounds(all, on, hooks);
}

std::vector<record::result> measure_launch(backend::device& on, const round_hooks& hooks) {
  const backend::roofs* const roofs = backend::roofs_of(on.info().backend);
  if (roofs == nullptr || roofs->launch == nullptr) return {};
  std::vector<roof> all{launch_of(on.queue(), *roofs)};
  return measured_in_rounds(all, on, hooks);
}

namespace {

std::optional<registry::choice> chosen(const registry::problem& p, const backend::device& on) {
  try {
    return registry::choose(p, on);
  } catch (const error&) {
    return std::nullopt;  // the device has no variant of the algorithm
  }
}

}  // namespace

std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on, std::uint64_t n) {
  const device_info& info = on->info();
  std::vector<group> plan;
  std::string refused;
  for (const registry::algorithm* what : registry::algorithms()) {
    request asked;
    asked.types = {what->types.front()};
    if (n != 0)
      asked.sizes = {n};
    else
      asked.shapes = {what->quick_shapes.back()};
    const asked_problems posed = problems_of(*what, asked);
    if (posed.all.empty()) {
      refused = posed.refused;
      continue;
    }
    const registry::problem& p = posed.all.front();
    const auto choice = chosen(p, *on);
    if (!choice) continue;
    group all{p, info.backend == "cpu" ? "cpu" : sized_name(*on), {}};
    all.rows.push_back({choice->variant, on, choice->tuning, {}, choice->applied});
    for (const registry::variant* limit : limits_of(p, info.backend)) all.rows.push_back({limit, on});
    plan.push_back(std::move(all));
  }
  if (plan.empty() && !refused.empty()) throw error(errc::invalid_argument, refused);
  return plan;
}

}  // namespace tilewise::lab
