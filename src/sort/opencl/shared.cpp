// SPDX-License-Identifier: Apache-2.0
// What:   host code that all sorts on OpenCL share.
// Order:  program.cl: smaller codes first, every pass stable.
// Shape:  a chain of passes between two memories; the last one writes the output.
// Limits: workspace as large as the elements; works in place.
// Twins:  serial.cpp.
#include "sort/opencl/shared.hpp"

#include "backend/opencl/device.hpp"
#include "sort/code.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort {

std::string sizes_of(const registry::problem& p) {
  return " -DTW_KEY_BYTES=" + std::to_string(size_of(p.type)) +
         " -DTW_VALUE_BYTES=" + std::to_string(payload_size(payload_of(p)));
}

std::array<base::scalar_value, 4> words_of(const registry::problem& p) {
  return with_type(p.type, [&]<class T>(T) {
    const auto code = code_of<T>(is_descending(p));
    const auto word = [](auto bits) { return base::scalar_value::of(bits); };
    return std::array{word(code.of_positive), word(code.of_negative), word(code.wrapped), word(code.complement)};
  });
}

namespace {

bool is_same(const backend::memory& a, const backend::memory& b) { return a.base == b.base && a.offset == b.offset; }

}  // namespace

std::uint64_t widest(const registry::problem& p) { return std::max(size_of(p.type), payload_size(payload_of(p))); }

std::string opencl_tiles::definitions() const {
  return " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(group_size));
}

std::uint64_t opencl_tiles::local_bytes(const registry::problem& p) const {
  const std::uint64_t counts = 4 * (8 * group_size + group_size / 4);  // padded, as in program.cl
  return std::max(tile() * widest(p), counts) + 8 + 6 * std::uint64_t{group_size};
}

opencl_tiles tiles_for(const registry::problem& p, const device_info& on, unsigned group, local_need bytes) {
  opencl_tiles tiles{group == 0 ? 256 : 32u << group};
  const auto fits = [&] { return backend::opencl::too_large(on, tiles.group_size, bytes(p, tiles)).empty(); };
  while (group == 0 && tiles.group_size > 64 && !fits()) tiles.group_size /= 2;
  return tiles;
}

std::string tiles_unsupported(const registry::problem& p, const device_info& on, unsigned group, local_need bytes) {
  const opencl_tiles tiles = tiles_for(p, on, group, bytes);
  return backend::opencl::too_large(on, tiles.group_size, bytes(p, tiles));
}

opencl_sort::opencl_sort(const registry::problem& p, const registry::bindings& where, backend::queue& queue,
                         std::string_view source, const std::string& definitions)
    : problem_(p),
      queue_(static_cast<backend::opencl::queue&>(queue)),
      key_size_(size_of(p.type)),
      value_size_(payload_size(payload_of(p))),
      program_(queue_.program(source, sizes_of(p) + definitions)),
      words_(words_of(p)),
      input_{where.in[0], has_values(p) ? where.in[1] : where.in[0]},
      output_{where.out[0], value_size_ == 0 ? where.out[0] : where.out[1]} {}

void opencl_sort::plan(unsigned passes, bool first_in_place) {
  passes_ = passes;
  const bool written_over = passes % 2 == 1 && !first_in_place && is_in_place();
  if (passes == 1 && !written_over) return;
  spare_keys_.emplace(queue_, count() * key_size_);
  spare_values_.emplace(queue_, count() * value_size_);
  if (written_over) copy_input();
}

bool opencl_sort::is_in_place() const {
  return is_same(input_.keys, output_.keys) || is_same(input_.values, output_.values);
}

void opencl_sort::copy_input() {
  queue_.copy(*spare_keys_, input_.keys, count() * key_size_);
  input_.keys = *spare_keys_;
  if (!has_values(problem_)) return;
  queue_.copy(*spare_values_, input_.values, count() * value_size_);
  input_.values = *spare_values_;
}

std::uint32_t opencl_sort::mode(unsigned pass) const {
  const bool makes_indices = pass == 0 && payload_of(problem_) == payload::indices;
  return (pass == 0 ? encode : 0u) | (pass + 1 == passes_ ? decode : 0u) | (makes_indices ? indices : 0u);
}

}  // namespace tilewise::impl::sort
