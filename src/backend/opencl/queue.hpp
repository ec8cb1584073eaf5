// SPDX-License-Identifier: Apache-2.0
// An in-order OpenCL queue with its buffers, programs and clock.
#pragma once

#include "backend/backend.hpp"
#include "backend/opencl/program.hpp"
#include "base/number.hpp"

#include <chrono>
#include <unordered_map>
#include <vector>

namespace tilewise::backend::opencl {

/// The work-items of a work-group; a plain number means a single row.
struct group_shape {
  unsigned width, height;

  constexpr group_shape(unsigned across, unsigned down = 1) : width(across), height(down) {}
  constexpr unsigned items() const { return width * height; }
};

/// A kernel argument: this many bytes of local memory for each work-group.
struct local_room {
  std::uint64_t bytes;
};

/// Why a work-group with such an argument does not fit the device; empty if it does. NVIDIA's driver uses some of the
/// local memory that it reports, so an argument of the full size cannot be launched.
std::string too_large(const device_info& facts, unsigned group_size, local_room room);

/// A kernel argument: a struct, passed by value.
struct struct_value {
  const void* at;
  std::size_t bytes;
};

/// Memory through which the work-groups of a launch send each other values (packet.cl). Its first word counts all
/// tickets drawn so far; `drawn` is the count before this launch.
struct message_board {
  memory words;
  std::uint32_t launch = 0;
  std::uint32_t drawn = 0;
};

/// A separate command queue for one thread of backend/transfer_team. `shares_memory`: whether the device is the host's
/// processor; then pinned buffers would only add a copy.
std::unique_ptr<lane> open_lane(cl_context context, cl_device_id device, bool shares_memory);

class queue final : public backend::queue {
 public:
  static std::unique_ptr<queue> open(const backend::device& owner, cl_device_id id);
  static std::unique_ptr<queue> borrow(const backend::device& owner, cl_command_queue theirs);
  ~queue() override;

  /// The program of an embedded source, built on first use.
  opencl::program& program(std::string_view source, const std::string& definitions) {
    return programs_.get(source, definitions);
  }

  /// Enqueues one work-group for each tile. As kernel arguments, a memory is passed as its cl_mem, a scalar_value or
  /// struct_value as its bytes, a number as itself. Many tiles need several launches, so the number of the launch's
  /// first tile is added as a final ulong.
  template <class... Arguments>
  void launch_tiles(cl_kernel kernel, std::uint64_t tiles, group_shape group, const Arguments&... arguments) {
    cl_uint index = 0;
    (set_argument(kernel, index++, arguments), ...);
    enqueue_tiles(kernel, index, tiles, group);
  }

  /// Calls `launch` with a board for `packets` packets (packet.cl). In it, `groups` work-groups draw one ticket each.
  /// If `launch` makes several launches, the first has the number board.launch, and the others the numbers after it.
  template <class Launch>
  void launch_drawing(std::uint64_t groups, std::uint64_t packets, std::size_t element_size, const Launch& launch,
                      std::uint32_t launches = 1) {
    prepare_board(packets, element_size, launches);
    launch(static_cast<const message_board&>(board_));
    board_.drawn += static_cast<std::uint32_t>(groups);
    board_.launch += launches - 1;
    is_board_known_ = true;
  }

  /// The command queue, for libraries that enqueue work themselves.
  cl_command_queue commands() const {
    programs_.refuse_foreign_code();
    return commands_.get();
  }

  memory allocate(std::uint64_t bytes) override;
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  /// Maps a sub-buffer of the caller, which has its own cl_mem, to the range of its parent buffer.
  memory in_whole(memory part) const override;
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                 std::uint64_t rows) override;
  transfer_team* transfers() override { return transfers_.get(); }
  double multiply_add(dtype type) override;
  void finish() override;
  void start_clock() override;
  double stop_clock() override;
  std::string_view clock_name() const override { return profiled_ ? "opencl_markers" : "steady_clock"; }
  arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) override;

 private:
  cl_kernel copy_kernel(const char* name);
  queue(const backend::device& owner, cl_device_id id, context_handle context, queue_handle commands, bool profiled);

  void set_argument(cl_kernel kernel, cl_uint index, const memory& what);
  void set_argument(cl_kernel kernel, cl_uint index, const base::scalar_value& value);
  void set_argument(cl_kernel kernel, cl_uint index, local_room room);
  void set_argument(cl_kernel kernel, cl_uint index, struct_value value);
  void set_argument(cl_kernel kernel, cl_uint index, std::uint64_t value);
  void set_argument(cl_kernel kernel, cl_uint index, std::uint32_t value);
  void enqueue_tiles(cl_kernel kernel, cl_uint tile_index, std::uint64_t tiles, group_shape group);
  void enqueue(cl_kernel kernel, cl_uint dimensions, const std::size_t* global, const std::size_t* local);
  void drop_board() noexcept;
  void prepare_board(std::uint64_t packets, std::size_t element_size, std::uint32_t launches);
  event_handle mark();
  cl_mem create_buffer(std::uint64_t bytes);
  void drop_free_buffers();

  context_handle context_;
  queue_handle commands_;
  bool profiled_;  // whether markers report their times
  program_store programs_;
  std::unordered_map<std::uint64_t, std::vector<cl_mem>> free_;  // by size
  std::unordered_map<cl_mem, std::uint64_t> owned_;              // sizes of all our buffers, used and free
  std::unordered_map<cl_mem, unsigned> views_;  // of our buffers; the last one that is released gives a buffer back
  std::uint64_t held_ = 0;                      // bytes of all our buffers
  message_board board_;
  bool is_board_known_ = false;  // false after a failed launch, since it is unknown how many tickets that drew
  event_handle first_mark_;      // set by start_clock
  std::chrono::steady_clock::time_point clock_started_;
  std::unique_ptr<transfer_team> transfers_;
};

}  // namespace tilewise::backend::opencl
