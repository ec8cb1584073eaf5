// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/opencl:hiperc: HiPerC's GPU program, three kernels per step.
// Order:  its own, because taps of weight zero are multiplied too. Their products are zeros, so that a finite field
//         has the definition's bits.
// Shape:  diffuse.cl; three fields with ghosts, made from ours before the first step.
// Limits: a device with groups of 1024 items.
// Twins:  diffuse/serial.cpp, cuda/diffuse.cu, cpu/diffuse.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "diffuse/problem.hpp"
#include "peers/variants.hpp"

namespace tilewise::embedded {
extern const std::string_view opencl_diffuse_cl;
}

namespace tilewise::peers {

namespace {

namespace opencl = backend::opencl;
namespace diffuse = impl::diffuse;

constexpr unsigned group_side = 32;  // the original's, from its parameter file

/// One of our fields, or the inner part of a field with ghosts.
struct placed_field {
  backend::memory where;
  std::uint64_t first, pitch;
};

/// HiPerC's program, and the sizes of its fields.
class hiperc {
 public:
  hiperc(const registry::problem& p, opencl::queue& queue)
      : queue_(queue),
        type_(p.type),
        s_(p),
        ghosts_(diffuse::radius_of(diffuse::mask_of(p))),
        kernels_(queue.program(embedded::opencl_diffuse_cl,
                               opencl::definitions_of(p.type, op::sum) + " -DTW_SIDE=" + std::to_string(group_side))) {}

  std::uint64_t columns() const { return s_.columns + 2 * ghosts_; }
  std::uint64_t bytes() const { return (s_.rows + 2 * ghosts_) * columns() * size_of(type_); }

  placed_field without_ghosts(const backend::memory& of) const { return {of, of.offset / size_of(type_), s_.columns}; }
  placed_field inner(const backend::memory& of) const { return {of, ghosts_ * columns() + ghosts_, columns()}; }

  void copy(const placed_field& to, const placed_field& from) {
    launch("tw_copy", groups(s_.rows, s_.columns, group_side), from.where, from.first, from.pitch, to.where, to.first,
           to.pitch, s_.rows, s_.columns);
  }

  template <class T>
  void step(const backend::memory& old, const backend::memory& mask, const backend::memory& lap,
            const backend::memory& next, T rate) {
    const std::uint64_t all = groups(s_.rows + 2 * ghosts_, columns(), group_side);
    launch("tw_boundaries", all, old, s_.rows, s_.columns, ghosts_);
    launch("tw_convolve", groups(s_.rows, s_.columns, group_side - 2 * ghosts_), old, mask, lap, s_.rows, s_.columns,
           ghosts_);
    launch("tw_update", all, old, lap, next, s_.rows, s_.columns, ghosts_, base::scalar_value::of(rate));
  }

 private:
  static std::uint64_t groups(std::uint64_t rows, std::uint64_t columns, unsigned side) {
    return ceil_div(rows, side) * ceil_div(columns, side);
  }

  template <class... Arguments>
  void launch(const char* kernel, std::uint64_t count, const Arguments&... arguments) {
    queue_.launch_tiles(kernels_.kernel(kernel), count, opencl::group_shape(group_side, group_side), arguments...);
  }

  opencl::queue& queue_;
  dtype type_;
  diffuse::sizes s_;
  std::uint32_t ghosts_;
  opencl::program& kernels_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (diffuse::copies_only(p, where, on)) return;
  auto& queue = static_cast<opencl::queue&>(on);
  hiperc original(p, queue);
  const backend::buffer first(queue, original.bytes()), second(queue, original.bytes()), lap(queue, original.bytes());
  backend::memory old = first, next = second;
  original.copy(original.inner(old), original.without_ghosts(where.in[0]));
  with_float(p.type, [&]<class T>(T) {
    const std::vector<T> taps = diffuse::square_of(diffuse::mask_of(p), diffuse::weights_in<T>(p));
    const backend::buffer mask(queue, taps.size() * sizeof(T));
    queue.upload(mask, taps.data(), taps.size() * sizeof(T));
    for (std::uint64_t done = 0; done < diffuse::sizes(p).steps; ++done, std::swap(old, next))
      original.step(old, mask, lap, next, diffuse::weights_in<T>(p).rate);
  });
  original.copy(original.without_ghosts(where.out[0]), original.inner(old));
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (diffuse::sizes(p).is_band()) return "it steps whole fields";
  if (p.type == dtype::f64 && !on.info().fp64) return on.info().name + " has no double precision";
  constexpr unsigned items = group_side * group_side;
  return opencl::too_large(on.info(), items, std::uint64_t{items} * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> diffuse_opencl_variants() {
  return {{.algorithm = "diffuse",
           .backend = "opencl",
           .name = "hiperc",
           .order = registry::claim::own,
           .types = float_types,
           .source = "HiPerC's OpenCL program, rewritten",
           .unsupported = unsupported,
           .run = run,
           .bound = 1e-30,  // the laboratory's fields are finite; a device may flush denormals
           .peer = true}};
}

}  // namespace tilewise::peers
