// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/queue.hpp"

#include "backend/transfer_team.hpp"
#include "base/ceil_div.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <set>

namespace tilewise::backend::opencl {

namespace {

/// Work-groups per launch: far below every driver's limit, and so few that even short tests need several launches.
constexpr std::uint64_t max_groups = std::uint64_t{1} << 20;

/// Bytes before the first packet, so that the counter has its own cache line. packet.cl has the same number in words.
constexpr std::uint64_t board_begin = 128;

/// Above this size, several threads transfer faster than the driver alone.
constexpr std::uint64_t most_bytes_alone = 1 << 20;

/// Rounds up to three significant bits. At most a quarter is wasted, and a freed buffer can be reused for similar
/// sizes.
std::uint64_t bucket_of(std::uint64_t bytes) {
  const std::uint64_t at_least = std::max<std::uint64_t>(bytes, 256);
  const std::uint64_t step = std::bit_floor(at_least) / 4;
  return ceil_div(at_least, step) * step;
}

/// PoCL before 6 counts the users of a loaded kernel, but confuses two kernels that differ only in the size of their
/// grids. If both run, one count falls below zero, which ends the process. So while several PoCL queues are open, each
/// launch waits for the one before.
struct open_queues {
  std::mutex changing;
  std::set<queue*> open;
};

open_queues& pocl_queues() {
  static auto& all = *new open_queues;
  return all;
}

}  // namespace

std::unique_ptr<queue> queue::open(const backend::device& owner, cl_device_id id) {
  context_handle context(TW_CL_MAKE(cl().clCreateContext(nullptr, 1, &id, nullptr, nullptr, tw_status)));
  cl_int status = CL_SUCCESS;
  queue_handle commands(cl().clCreateCommandQueue(context.get(), id, CL_QUEUE_PROFILING_ENABLE, &status));
  const bool profiled = status == CL_SUCCESS;
  if (!profiled) commands = queue_handle(TW_CL_MAKE(cl().clCreateCommandQueue(context.get(), id, 0, tw_status)));
  return std::unique_ptr<queue>(new queue(owner, id, std::move(context), std::move(commands), profiled));
}

std::unique_ptr<queue> queue::borrow(const backend::device& owner, cl_command_queue theirs) {
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  cl_command_queue_properties properties = 0;
  TW_CL(cl().clGetCommandQueueInfo(theirs, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr));
  TW_CL(cl().clGetCommandQueueInfo(theirs, CL_QUEUE_DEVICE, sizeof id, &id, nullptr));
  TW_CL(cl().clGetCommandQueueInfo(theirs, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr));
  TW_CL(cl().clRetainContext(context));
  context_handle shared_context(context);
  TW_CL(cl().clRetainCommandQueue(theirs));
  queue_handle shared_queue(theirs);
  const bool profiled = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  return std::unique_ptr<queue>(new queue(owner, id, std::move(shared_context), std::move(shared_queue), profiled));
}

queue::queue(const backend::device& owner, cl_device_id id, context_handle context, queue_handle commands,
             bool profiled)
    : backend::queue(owner),
      context_(std::move(context)),
      commands_(std::move(commands)),
      profiled_(profiled),
      programs_(context_.get(), id),
      transfers_(std::make_unique<transfer_team>(
          [context = context_.get(), id, is_cpu = owner.info().is_cpu] { return open_lane(context, id, is_cpu); })) {
  if (!programs_.is_pocl()) return;
  const std::lock_guard mine(pocl_queues().changing);
  if (pocl_queues().open.size() == 1) (*pocl_queues().open.begin())->finish();
  pocl_queues().open.insert(this);
}

queue::~queue() {
  transfers_.reset();
  cl().clFinish(commands_.get());
  if (programs_.is_pocl()) {
    const std::lock_guard mine(pocl_queues().changing);
    pocl_queues().open.erase(this);
  }
  for (const auto& [buffer, bytes] : owned_) cl().clReleaseMemObject(buffer);
}

void queue::set_argument(cl_kernel kernel, cl_uint index, const memory& what) {
  const auto buffer = static_cast<cl_mem>(what.base);
  TW_CL(cl().clSetKernelArg(kernel, index, sizeof buffer, &buffer));
}

void queue::set_argument(cl_kernel kernel, cl_uint index, const base::scalar_value& value) {
  TW_CL(cl().clSetKernelArg(kernel, index, size_of(value.type), &value.bits));
}

void queue::set_argument(cl_kernel kernel, cl_uint index, local_room room) {
  TW_CL(cl().clSetKernelArg(kernel, index, room.bytes, nullptr));
}

void queue::set_argument(cl_kernel kernel, cl_uint index, struct_value value) {
  TW_CL(cl().clSetKernelArg(kernel, index, value.bytes, value.at));
}

void queue::set_argument(cl_kernel kernel, cl_uint index, std::uint64_t value) {
  TW_CL(cl().clSetKernelArg(kernel, index, sizeof value, &value));
}

void queue::set_argument(cl_kernel kernel, cl_uint index, std::uint32_t value) {
  TW_CL(cl().clSetKernelArg(kernel, index, sizeof value, &value));
}

void queue::enqueue_tiles(cl_kernel kernel, cl_uint tile_index, std::uint64_t tiles, group_shape group) {
  const std::size_t local[]{group.width, group.height};
  const cl_uint dimensions = group.height == 1 ? 1 : 2;
  for (std::uint64_t first = 0; first < tiles; first += max_groups) {
    set_argument(kernel, tile_index, first);
    const std::size_t global[]{std::min(tiles - first, max_groups) * local[0], local[1]};
    programs_.admit_launch(kernel, local[0], local[1], global[0]);
    enqueue(kernel, dimensions, global, local);
  }
}

void queue::enqueue(cl_kernel kernel, cl_uint dimensions, const std::size_t* global, const std::size_t* local) {
  const auto launch = [&] {
    TW_CL(
        cl().clEnqueueNDRangeKernel(commands_.get(), kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr));
  };
  if (!programs_.is_pocl()) return launch();
  const std::lock_guard mine(pocl_queues().changing);
  launch();
  if (pocl_queues().open.size() > 1) finish();
}

void queue::drop_board() noexcept {
  is_board_known_ = false;
  if (board_.words.base != nullptr) release(board_.words);
  board_ = {};
}

/// Prepares the board for `launches` launches. Between launches nothing is cleared.
void queue::prepare_board(std::uint64_t packets, std::size_t element_size, std::uint32_t launches) {
  const std::uint64_t bytes = board_begin + packets * 2 * element_size;
  const bool is_worn = board_.launch > std::numeric_limits<std::uint32_t>::max() - launches;
  if (!is_board_known_ || is_worn || bytes > board_.words.bytes) {
    drop_board();
    board_.words = allocate(bucket_of(bytes));
    const std::vector<std::byte> zeros(std::min(board_.words.bytes, most_bytes_alone));
    for (std::uint64_t at = 0; at < board_.words.bytes; at += zeros.size()) {
      const std::uint64_t some = std::min<std::uint64_t>(zeros.size(), board_.words.bytes - at);
      upload(board_.words.at(at, some), zeros.data(), some);
    }
  }
  ++board_.launch;
  is_board_known_ = false;
}

cl_mem queue::create_buffer(std::uint64_t bytes) {
  cl_int status = CL_SUCCESS;
  const auto create = [&] { return cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status); };
  const std::uint64_t limit = device().info().memory;
  const auto left = [&] { return limit - std::min(limit, held_); };
  if (limit != 0 && bytes > left()) drop_free_buffers();
  if (limit != 0 && bytes > left())
    throw error(errc::out_of_memory, device().info().name + " has no room for " + std::to_string(bytes) +
                                         " bytes: " + std::to_string(left()) + " of its " + std::to_string(limit) +
                                         " are free; use less data or free other arrays first");
  cl_mem buffer = create();
  if (status != CL_SUCCESS) {  // free the pool's idle buffers and try again
    drop_free_buffers();
    buffer = create();
  }
  if (status == CL_SUCCESS) return held_ += bytes, buffer;
  if (status == CL_INVALID_BUFFER_SIZE) status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  check(status, ("clCreateBuffer(" + std::to_string(bytes) + " bytes)").c_str());
  return nullptr;
}

void queue::drop_free_buffers() {
  finish();
  if (is_board_known_) drop_board();  // otherwise a launch may still use it, or it is just being made
  for (auto& [bytes, buffers] : free_) {
    for (cl_mem buffer : buffers) {
      owned_.erase(buffer);
      held_ -= bytes;
      cl().clReleaseMemObject(buffer);
    }
    buffers.clear();  // keeps the capacity that release relies on
  }
}

memory queue::allocate(std::uint64_t bytes) {
  const std::uint64_t limit = device().info().max_allocation;
  if (limit != 0 && bytes > limit)
    throw error(errc::out_of_memory, "an allocation of " + std::to_string(bytes) + " bytes exceeds the most that " +
                                         device().info().name + " can allocate at once, " + std::to_string(limit) +
                                         " bytes");
  std::uint64_t size = bucket_of(bytes);
  if (limit != 0) size = std::max(bytes, std::min(size, limit));
  std::vector<cl_mem>& ready = free_[size];
  if (!ready.empty()) {
    const cl_mem buffer = ready.back();
    ready.pop_back();
    return {buffer, 0, bytes};
  }
  ready.reserve(owned_.size() + 1);  // so that release cannot fail
  const cl_mem buffer = create_buffer(size);
  try {
    owned_.emplace(buffer, size);
  } catch (...) {
    cl().clReleaseMemObject(buffer);
    held_ -= size;
    throw;
  }
  return {buffer, 0, bytes};
}

void queue::release(memory what) noexcept {
  const auto buffer = static_cast<cl_mem>(what.base);
  const auto known = owned_.find(buffer);
  if (known == owned_.end()) return;  // the caller owns it
  if (const auto views = views_.find(buffer); views != views_.end()) {
    if (--views->second == 0) views_.erase(views);
    return;
  }
  // The queue is in order: the next user of the buffer runs after the last one.
  free_.find(known->second)->second.push_back(buffer);
}

memory queue::wrap(void* native, std::uint64_t bytes) {
  if (native == nullptr) throw error(errc::invalid_argument, "the cl_mem is null");
  std::size_t size = 0;
  cl_context theirs = nullptr;
  const auto buffer = static_cast<cl_mem>(native);
  TW_CL(cl().clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, nullptr));
  TW_CL(cl().clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof theirs, &theirs, nullptr));
  if (theirs != context_.get())
    throw error(errc::invalid_argument,
                "the cl_mem belongs to a different context than this device; open the device with from_opencl_queue");
  if (size < bytes)
    throw error(errc::invalid_argument,
                "the cl_mem has " + std::to_string(size) + " bytes, not the " + std::to_string(bytes) + " stated");
  if (owned_.contains(buffer)) ++views_[buffer];
  return {native, 0, bytes};
}

memory queue::in_whole(memory part) const {
  const auto buffer = static_cast<cl_mem>(part.base);
  if (owned_.contains(buffer)) return part;
  cl_mem whole = nullptr;
  std::size_t first = 0;
  TW_CL(cl().clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, nullptr));
  if (whole == nullptr) return part;
  TW_CL(cl().clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof first, &first, nullptr));
  return {whole, first + part.offset, part.bytes};
}

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (bytes > most_bytes_alone) {
    finish();  // earlier work may still use this memory
    return transfers_->send(to, from, bytes).wait();
  }
  TW_CL(cl().clEnqueueWriteBuffer(commands_.get(), static_cast<cl_mem>(to.base), CL_TRUE, to.offset, bytes, from, 0,
                                  nullptr, nullptr));
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return finish();
  if (bytes > most_bytes_alone) {
    finish();
    return transfers_->fetch(to, from, bytes).wait();
  }
  TW_CL(cl().clEnqueueReadBuffer(commands_.get(), static_cast<cl_mem>(from.base), CL_TRUE, from.offset, bytes, to, 0,
                                 nullptr, nullptr));
}

void queue::finish() { TW_CL(cl().clFinish(commands_.get())); }

/// The event of a marker; null if markers report no times.
event_handle queue::mark() {
  cl_event made = nullptr;
  profiled_ =
      profiled_ && TW_CL_WATCHED(cl().clEnqueueMarkerWithWaitList(commands_.get(), 0, nullptr, &made)) == CL_SUCCESS;
  return event_handle(made);
}

/// Only the two marks have events. An event for each launch made short launches three times slower on an H200.
void queue::start_clock() {
  finish();
  clock_started_ = std::chrono::steady_clock::now();
  first_mark_ = mark();
}

double queue::stop_clock() {
  const event_handle first = std::move(first_mark_), last = mark();
  finish();
  const std::chrono::duration<double, std::nano> on_host = std::chrono::steady_clock::now() - clock_started_;
  const auto end_of = [&](const event_handle& marker) {
    cl_ulong ns = 0;
    profiled_ =
        profiled_ && marker.get() != nullptr &&
        cl().clGetEventProfilingInfo(marker.get(), CL_PROFILING_COMMAND_END, sizeof ns, &ns, nullptr) == CL_SUCCESS &&
        ns > 0;
    return ns;
  };
  const cl_ulong from = end_of(first), to = end_of(last);
  profiled_ = profiled_ && to >= from;
  return profiled_ ? static_cast<double>(to - from) : on_host.count();
}

}  // namespace tilewise::backend::opencl
