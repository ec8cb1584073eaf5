// SPDX-License-Identifier: Apache-2.0
// What the sorts on OpenCL share: where the elements lie, how a pass is launched, and the tiles of program.cl.
#pragma once

#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "sort/problem.hpp"

#include <optional>

namespace tilewise::impl::sort {

// The same numbers as in key_code.cl.
enum opencl_mode : std::uint32_t { encode = 1, decode = 2, indices = 4 };

/// Keys and their values. Without a payload `values` is any memory, and is not used.
struct opencl_elements {
  backend::memory keys, values;
};

/// sizes_of: the preprocessor definitions of key_code.cl and program.cl for the problem's keys and payload.
/// words_of: the kernel arguments that hold its sort_code.
std::string sizes_of(const registry::problem& p);
std::array<base::scalar_value, 4> words_of(const registry::problem& p);

/// How program.cl cuts the elements into tiles.
struct opencl_tiles {
  static constexpr unsigned held = 15;  // keys of an item: TW_HELD in program.cl
  unsigned group_size;

  std::uint64_t tile() const { return std::uint64_t{group_size} * held; }
  std::uint64_t tiles(std::uint64_t n) const { return ceil_div(n, tile()); }
  std::string definitions() const;
  /// The local memory that kernels need which sort a tile.
  std::uint64_t local_bytes(const registry::problem& p) const;
};
using local_need = std::uint64_t (*)(const registry::problem& p, const opencl_tiles& tiles);

inline constexpr std::array<unsigned, 4> group_values{0, 1, 2, 3};
inline constexpr std::array<std::string_view, 4> group_words{"auto", "64", "128", "256"};
inline constexpr registry::tuning_axis group_axis{"group_size", group_values, 0, group_words};

/// The tiles for the value `group` of the axis. "auto" is the largest group that the device has room for.
opencl_tiles tiles_for(const registry::problem& p, const device_info& on, unsigned group, local_need bytes);
/// The size in bytes of a key or of a value, whichever is larger.
std::uint64_t widest(const registry::problem& p);

/// The local memory that kernels need which sort tiles and merge them.
std::uint64_t merge_path_bytes(const registry::problem& p, const opencl_tiles& tiles);
/// Sorts every `run` elements by themselves, or all elements if there are no more than `run`. `run` is the size of a
/// tile times a power of two. `split` is the value of merge_path's axis.
void sort_runs_by_merging(const registry::problem& p, const registry::bindings& where, const opencl_tiles& tiles,
                          std::uint64_t run, unsigned split, backend::queue& queue);

/// Why the device has no room for these tiles; empty if it has.
std::string tiles_unsupported(const registry::problem& p, const device_info& on, unsigned group, local_need bytes);

/// One running sort. Its passes move elements from the input to the output, through a workspace of the same size.
class opencl_sort {
 public:
  opencl_sort(const registry::problem& p, const registry::bindings& where, backend::queue& queue,
              std::string_view source, const std::string& definitions);

  backend::opencl::queue& queue() const { return queue_; }
  cl_kernel kernel(const char* name) const { return program_.kernel(name); }
  std::uint64_t count() const { return problem_.n(); }

  /// Sets the number of passes; the last one writes the output. If the first pass would overwrite its own input, the
  /// input is copied first, unless `first_in_place` allows the overwriting.
  void plan(unsigned passes, bool first_in_place);
  unsigned passes() const { return passes_; }
  opencl_elements source(unsigned pass) const { return pass == 0 ? input_ : target(pass - 1); }
  opencl_elements target(unsigned pass) const { return (passes_ - pass) % 2 == 1 ? output_ : workspace(); }
  std::uint32_t mode(unsigned pass) const;

  /// Launches a kernel that moves elements. `more` are its own arguments, which follow those of all such kernels.
  template <class... More>
  void move(cl_kernel kernel, std::uint64_t tiles, unsigned group_size, unsigned pass, const More&... more) const {
    move_range(kernel, tiles, group_size, pass, 0, count(), more...);
  }
  /// The same for a kernel that moves n elements from `begin` on to the same places of the target.
  template <class... More>
  void move_range(cl_kernel kernel, std::uint64_t tiles, unsigned group_size, unsigned pass, std::uint64_t begin,
                  std::uint64_t n, const More&... more) const {
    const opencl_elements from = source(pass), to = target(pass);
    queue_.launch_tiles(kernel, tiles, group_size, from.keys, begin + first_key(from), from.values,
                        begin + first_value(from), to.keys, begin + first_key(to), to.values, begin + first_value(to),
                        n, words_[0], words_[1], words_[2], words_[3], mode(pass), more...);
  }
  /// Launches a pass whose source and target the device chooses: it gets the input, the output and the workspace.
  template <class... More>
  void move_by_plan(cl_kernel kernel, std::uint64_t tiles, unsigned group_size, const More&... more) const {
    queue_.launch_tiles(kernel, tiles, group_size, input_.keys, first_key(input_), input_.values, first_value(input_),
                        output_.keys, first_key(output_), output_.values, first_value(output_), count(), words_[0],
                        words_[1], words_[2], words_[3], mode(0), workspace().keys, workspace().values, more...);
  }
  /// Launches a kernel that reorders some of the output's elements.
  template <class... More>
  void settle(cl_kernel kernel, std::uint64_t groups, unsigned group_size, const More&... more) const {
    queue_.launch_tiles(kernel, groups, group_size, output_.keys, first_key(output_), output_.values,
                        first_value(output_), count(), words_[0], words_[1], words_[2], words_[3], more...);
  }
  bool is_in_place() const;
  /// Launches a kernel that only reads the keys of a pass.
  template <class... More>
  void look(cl_kernel kernel, std::uint64_t tiles, unsigned group_size, unsigned pass, const More&... more) const {
    look_at_range(kernel, tiles, group_size, pass, 0, count(), more...);
  }
  template <class... More>
  void look_at_range(cl_kernel kernel, std::uint64_t tiles, unsigned group_size, unsigned pass, std::uint64_t begin,
                     std::uint64_t n, const More&... more) const {
    const opencl_elements from = source(pass);
    queue_.launch_tiles(kernel, tiles, group_size, from.keys, begin + first_key(from), n, words_[0], words_[1],
                        words_[2], words_[3], mode(pass), more...);
  }
  /// Turns the input's keys into codes.
  void encode_input(cl_kernel kernel, unsigned group_size) const {
    queue_.launch_tiles(kernel, ceil_div(count(), group_size), group_size, input_.keys, first_key(input_), count(),
                        words_[0], words_[1], words_[2], words_[3]);
  }

 private:
  std::uint64_t first_key(const opencl_elements& e) const { return e.keys.offset / key_size_; }
  std::uint64_t first_value(const opencl_elements& e) const {
    return value_size_ == 0 ? 0 : e.values.offset / value_size_;
  }
  opencl_elements workspace() const { return {*spare_keys_, *spare_values_}; }
  void copy_input();

  const registry::problem& problem_;
  backend::opencl::queue& queue_;
  std::size_t key_size_, value_size_;
  backend::opencl::program& program_;
  std::array<base::scalar_value, 4> words_;  // the sort_code, as kernel arguments
  opencl_elements input_, output_;
  unsigned passes_ = 0;
  std::optional<backend::buffer> spare_keys_, spare_values_;
};

}  // namespace tilewise::impl::sort
