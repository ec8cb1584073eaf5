#include "backend/opencl/opencl_queue.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::backend::opencl {

namespace {

/// Group numbers of one launch: far below every driver's limit, and so that short tests take the several-launch path.
constexpr std::uint64_t max_groups = std::uint64_t{1} << 20;

/// Sizes with three significant bits: at most a quarter is wasted, and a freed buffer fits the next one of about its
/// size.
std::uint64_t bucket_of(std::uint64_t bytes) {
  const std::uint64_t at_least = std::max<std::uint64_t>(bytes, 256);
  const std::uint64_t step = std::bit_floor(at_least) / 4;
  return ceil_div(at_least, step) * step;
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
      programs_(context_.get(), id) {}

queue::~queue() {
  cl().clFinish(commands_.get());
  for (cl_event e : events_) cl().clReleaseEvent(e);
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
    TW_CL(
        cl().clEnqueueNDRangeKernel(commands_.get(), kernel, dimensions, nullptr, global, local, 0, nullptr, event()));
  }
}

cl_event* queue::event() {
  if (!clock_runs_ || !profiled_) return nullptr;
  return &events_.emplace_back(nullptr);
}

cl_mem queue::create_buffer(std::uint64_t bytes) {
  cl_int status = CL_SUCCESS;
  const auto create = [&] { return cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status); };
  cl_mem buffer = create();
  if (status != CL_SUCCESS) {  // what lies in the pool may be what is missing
    drop_free_buffers();
    buffer = create();
  }
  if (status == CL_SUCCESS) return buffer;
  if (status == CL_INVALID_BUFFER_SIZE) status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  check(status, ("clCreateBuffer(" + std::to_string(bytes) + " bytes)").c_str());
  return nullptr;
}

void queue::drop_free_buffers() {
  finish();
  for (auto& [bytes, buffers] : free_) {
    for (cl_mem buffer : buffers) {
      owned_.erase(buffer);
      cl().clReleaseMemObject(buffer);
    }
    buffers.clear();  // keeps the capacity that release relies on
  }
}

memory queue::allocate(std::uint64_t bytes) {
  const std::uint64_t limit = device().info().max_allocation;
  if (limit != 0 && bytes > limit)
    throw error(errc::out_of_memory, "an allocation of " + std::to_string(bytes) + " bytes is more than " +
                                         device().info().name + " gives at once, " + std::to_string(limit) + " bytes");
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
  owned_.emplace(buffer, size);
  return {buffer, 0, bytes};
}

void queue::release(memory what) noexcept {
  const auto buffer = static_cast<cl_mem>(what.base);
  const auto known = owned_.find(buffer);
  if (known == owned_.end()) return;  // the caller's
  // The queue is in order: whatever takes the buffer next runs after what used it last.
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
                "the cl_mem belongs to another context than this device; open the device with from_opencl_queue");
  if (size < bytes)
    throw error(errc::invalid_argument, "the cl_mem has " + std::to_string(size) + " bytes, not the " +
                                            std::to_string(bytes) + " that were named");
  return {native, 0, bytes};
}

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  TW_CL(cl().clEnqueueWriteBuffer(commands_.get(), static_cast<cl_mem>(to.base), CL_TRUE, to.offset, bytes, from, 0,
                                  nullptr, event()));
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return finish();
  TW_CL(cl().clEnqueueReadBuffer(commands_.get(), static_cast<cl_mem>(from.base), CL_TRUE, from.offset, bytes, to, 0,
                                 nullptr, event()));
}

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  TW_CL(cl().clEnqueueCopyBuffer(commands_.get(), static_cast<cl_mem>(from.base), static_cast<cl_mem>(to.base),
                                 from.offset, to.offset, bytes, 0, nullptr, event()));
}

void queue::finish() { TW_CL(cl().clFinish(commands_.get())); }

void queue::start_clock() {
  for (cl_event e : events_) cl().clReleaseEvent(e);
  events_.clear();
  clock_runs_ = true;
  if (!profiled_) finish();
  clock_started_ = std::chrono::steady_clock::now();
}

double queue::stop_clock() {
  finish();
  const std::chrono::duration<double, std::nano> on_host = std::chrono::steady_clock::now() - clock_started_;
  clock_runs_ = false;
  cl_ulong first = ~cl_ulong{0}, last = 0;
  bool known = profiled_;
  for (const cl_event e : std::exchange(events_, {})) {
    const event_handle owner(e);
    cl_ulong start = 0, end = 0;
    known = known && e != nullptr &&
            cl().clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) == CL_SUCCESS &&
            cl().clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS;
    first = std::min(first, start);
    last = std::max(last, end);
  }
  if (!known) return on_host.count();
  return last > first ? static_cast<double>(last - first) : 0;
}

}  // namespace tilewise::backend::opencl
