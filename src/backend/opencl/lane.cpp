// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/queue.hpp"
#include "backend/transfer_team.hpp"

#include <array>

namespace tilewise::backend::opencl {

namespace {

/// Pinned memory: the driver allocates it, and it stays mapped until it is released.
class pinned_buffer {
 public:
  pinned_buffer(cl_context context, cl_command_queue commands, std::uint64_t bytes)
      : memory_(TW_CL_MAKE(cl().clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, tw_status))),
        address_(TW_CL_MAKE(cl().clEnqueueMapBuffer(commands, memory_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                    bytes, 0, nullptr, nullptr, tw_status))) {}
  void unmap(cl_command_queue commands) noexcept {
    cl().clEnqueueUnmapMemObject(commands, memory_.get(), address_, 0, nullptr, nullptr);
  }
  std::byte* address() const { return static_cast<std::byte*>(address_); }

 private:
  mem_handle memory_;
  void* address_;
};

class opencl_lane final : public lane {
 public:
  opencl_lane(cl_context context, cl_device_id device, bool shares_memory)
      : shares_memory_(shares_memory),
        context_(context),
        commands_(TW_CL_MAKE(cl().clCreateCommandQueue(context, device, 0, tw_status))) {}
  ~opencl_lane() override {
    for (pinned_buffer& buffer : buffers_) buffer.unmap(commands_.get());
    cl().clFinish(commands_.get());
  }

  /// Made when first needed: a device that shares the host's memory needs buffers only for rows with gaps between them.
  std::byte* buffer(unsigned turn) override {
    while (buffers_.size() <= turn) buffers_.emplace_back(context_, commands_.get(), buffer_bytes);
    return buffers_[turn].address();
  }
  bool reaches(const void*) const override { return shares_memory_; }

  void send(unsigned turn, memory to, const void* host, std::uint64_t bytes) override {
    begin(turn, [&](cl_event* done) {
      TW_CL(cl().clEnqueueWriteBuffer(commands_.get(), static_cast<cl_mem>(to.base), CL_FALSE, to.offset, bytes, host,
                                      0, nullptr, done));
    });
  }
  void fetch(unsigned turn, void* host, memory from, std::uint64_t bytes) override {
    begin(turn, [&](cl_event* done) {
      TW_CL(cl().clEnqueueReadBuffer(commands_.get(), static_cast<cl_mem>(from.base), CL_FALSE, from.offset, bytes,
                                     host, 0, nullptr, done));
    });
  }
  void wait(unsigned turn) override {
    const cl_event done = done_[turn].get();
    TW_CL(cl().clWaitForEvents(1, &done));
  }

 private:
  template <class Enqueue>
  void begin(unsigned turn, const Enqueue& enqueue) {
    cl_event done = nullptr;
    enqueue(&done);
    done_[turn] = event_handle(done);
    TW_CL(cl().clFlush(commands_.get()));
  }

  bool shares_memory_;
  cl_context context_;
  queue_handle commands_;
  std::vector<pinned_buffer> buffers_;
  std::array<event_handle, 2> done_;
};

}  // namespace

std::unique_ptr<lane> open_lane(cl_context context, cl_device_id device, bool shares_memory) {
  return std::make_unique<opencl_lane>(context, device, shares_memory);
}

}  // namespace tilewise::backend::opencl
