// What:   diffuse/cpu:hiperc and hiperc_openmp: HiPerC's program for one thread and its form for many. Fields are
//         pointers to rows; in each step the boundaries, the mask and the update are separate loops.
// Order:  its own, because taps of weight zero are multiplied too. Their products are zeros, so that a finite field
//         has the definition's bits.
// Shape:  three fields with ghosts, made from ours before the first step; OpenMP distributes their rows.
// Limits: hiperc: cpu:serial, and what one thread computes within seconds. hiperc_openmp: any other CPU device.
// Twins:  diffuse_serial.cpp, opencl_diffuse.cl, cuda_diffuse.cu.
#include "backend/cpu/cpu_device.hpp"
#include "diffuse/diffuse_problem.hpp"
#include "peers/cpu_peers.hpp"

#include <algorithm>

namespace tilewise::peers {

namespace {

namespace diffuse = impl::diffuse;

/// Rows reached through pointers, as the original keeps its fields and its mask.
template <class T>
struct grid {
  std::uint64_t rows, columns;
  T** row;

  T* operator[](std::uint64_t j) const { return row[j]; }
};

/// The memory of a grid, which a program would keep from step to step; from the queue's pool, so that calls need not
/// pay for fresh pages.
template <class T>
class grid_memory {
 public:
  grid_memory(backend::queue& queue, std::uint64_t rows, std::uint64_t columns)
      : columns_(columns), values_(queue, rows * columns * sizeof(T)), row_(rows) {
    for (std::uint64_t j = 0; j < rows; ++j) row_[j] = values_.as<T>() + j * columns;
  }
  operator grid<T>() { return {row_.size(), columns_, row_.data()}; }

 private:
  std::uint64_t columns_;
  backend::buffer values_;
  std::vector<T*> row_;
};

template <class T>
void set_boundaries(grid<T> c, std::uint64_t g, int threads) {
  const std::uint64_t right = c.columns - 1 - g, bottom = c.rows - 1 - g;  // the last that are not ghosts
#pragma omp parallel for num_threads(threads)
  for (std::uint64_t j = g; j <= bottom; ++j) {
    const bool is_upper = j < c.rows / 2;
    c[j][is_upper ? g : right] = 1;
    for (std::uint64_t o = 1; o <= g; ++o) {
      c[j][g - o] = c[j][g];
      c[j][right + o] = c[j][right];
    }
  }
  for (std::uint64_t o = 1; o <= g; ++o) {
    std::copy_n(c[g], c.columns, c[g - o]);
    std::copy_n(c[bottom], c.columns, c[bottom + o]);
  }
}

/// A mask of any size and weights.
template <class T>
void convolve(grid<T> c, grid<T> mask, grid<T> lap, int threads) {
  const std::uint64_t g = mask.rows / 2;
#pragma omp parallel for num_threads(threads)
  for (std::uint64_t j = g; j < c.rows - g; ++j)
    for (std::uint64_t i = g; i < c.columns - g; ++i) {
      T value = 0;
      for (std::uint64_t mj = 0; mj < mask.rows; ++mj)
        for (std::uint64_t mi = 0; mi < mask.columns; ++mi) value += mask[mj][mi] * c[j + mj - g][i + mi - g];
      lap[j][i] = value;
    }
}

template <class T>
void update(grid<T> old, grid<T> lap, T rate, std::uint64_t g, grid<T> next, int threads) {
#pragma omp parallel for num_threads(threads)
  for (std::uint64_t j = g; j < old.rows - g; ++j)
    for (std::uint64_t i = g; i < old.columns - g; ++i) next[j][i] = old[j][i] + rate * lap[j][i];
}

template <class T>
void take_steps(const registry::problem& p, const T* field, T* result, backend::cpu::queue& queue) {
  const diffuse::sizes s(p);
  const auto threads = static_cast<int>(queue.threads());
  const diffuse::mask shape = diffuse::mask_of(p);
  const diffuse::weights<T> w = diffuse::weights_in<T>(p);
  const std::uint64_t g = diffuse::radius_of(shape), rows = s.rows + 2 * g, columns = s.columns + 2 * g;
  grid_memory<T> mask_memory(queue, 2 * g + 1, 2 * g + 1);
  grid_memory<T> first(queue, rows, columns), second(queue, rows, columns), third(queue, rows, columns);
  const grid<T> mask = mask_memory, lap = third;
  grid<T> old = first, next = second;
  std::ranges::copy(diffuse::square_of(shape, w), mask[0]);
  for (std::uint64_t j = 0; j < s.rows; ++j) std::copy_n(field + j * s.columns, s.columns, old[j + g] + g);
  for (std::uint64_t done = 0; done < s.steps; ++done) {
    set_boundaries(old, g, threads);
    convolve(old, mask, lap, threads);
    update(old, lap, w.rate, g, next, threads);
    std::swap(old, next);
  }
  for (std::uint64_t j = 0; j < s.rows; ++j) std::copy_n(old[j + g] + g, s.columns, result + j * s.columns);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (diffuse::copies_only(p, where, on)) return;
  with_float(p.type, [&]<class T>(T) {
    take_steps(p, where.in[0].as<const T>(), where.out[0].as<T>(), static_cast<backend::cpu::queue&>(on));
  });
}

/// A call on one thread takes several seconds there, and a median takes a dozen calls.
constexpr double most_updates = 1 << 28;

std::string one_thread_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  const diffuse::sizes s(p);
  if (s.is_band()) return "it steps whole fields";
  if (static_cast<double>(s.elements()) * static_cast<double>(s.steps) > most_updates)
    return "one call takes seconds at this size";
  return on.info().name == "cpu:serial" ? "" : "it runs on one thread: cpu:serial";
}

std::string openmp_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (diffuse::sizes(p).is_band()) return "it steps whole fields";
  return on.info().name == "cpu:serial" ? "it runs on several threads, and cpu:serial has one" : "";
}

registry::variant hiperc_peer(std::string_view name, std::string_view source,
                              decltype(registry::variant::unsupported) unsupported) {
  registry::variant peer = cpu_peer("diffuse", name, source, unsupported, run);
  peer.types = float_types;
  peer.bound = 0;  // the lab's fields are finite
  return peer;
}

}  // namespace

std::vector<registry::variant> diffuse_variants() {
  return {hiperc_peer("hiperc", "HiPerC's serial program, rewritten", one_thread_unsupported),
          hiperc_peer("hiperc_openmp", "HiPerC's program with OpenMP, rewritten", openmp_unsupported)};
}

}  // namespace tilewise::peers
