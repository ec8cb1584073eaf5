// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/queue.hpp"

#include "backend/cuda/error.hpp"
#include "backend/transfer_team.hpp"

#include <bit>
#include <cstring>

namespace tilewise::backend::cuda {

void staging::open() {
  for (unsigned i = 0; i < 2; ++i) {
    if (buffer_[i] == nullptr) TW_CUDA(cudaMallocHost(&buffer_[i], most_bytes));
    if (sent_[i] == nullptr) TW_CUDA(cudaEventCreateWithFlags(&sent_[i], cudaEventDisableTiming));
  }
}

void staging::close() noexcept {
  for (unsigned i = 0; i < 2; ++i) {
    if (sent_[i] != nullptr) TW_CUDA_NOTHROW(cudaEventDestroy(sent_[i]));
    if (buffer_[i] != nullptr) TW_CUDA_NOTHROW(cudaFreeHost(buffer_[i]));
  }
}

void staging::upload(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  open();
  TW_CUDA(cudaEventSynchronize(sent_[next_]));
  std::memcpy(buffer_[next_], from, bytes);
  TW_CUDA(cudaMemcpyAsync(to, buffer_[next_], bytes, cudaMemcpyHostToDevice, stream));
  TW_CUDA(cudaEventRecord(sent_[next_], stream));
  next_ ^= 1;
}

queue::queue(const backend::device& owner, int ordinal) : backend::queue(owner), ordinal_(ordinal), owns_stream_(true) {
  open();
}

queue::queue(const backend::device& owner, int ordinal, cudaStream_t borrowed)
    : backend::queue(owner), ordinal_(ordinal), owns_stream_(false), stream_(borrowed) {
  open();
}

void queue::open() {
  transfers_ = std::make_unique<transfer_team>([ordinal = ordinal_] { return open_lane(ordinal); });
  try {
    make_current();
    if (owns_stream_) TW_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t& event : clock_) TW_CUDA(cudaEventCreate(&event));
    for (cudaEvent_t& event : marks_) TW_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    pool_.open(ordinal_, stream_, device().info().memory);
    ticket_ = static_cast<unsigned*>(pool_.take(sizeof(unsigned)));
    TW_CUDA(cudaMemsetAsync(ticket_, 0, sizeof(unsigned), stream_));
  } catch (...) {
    close();
    throw;
  }
}

queue::~queue() { close(); }

void queue::close() noexcept {
  transfers_.reset();
  TW_CUDA_NOTHROW(cudaSetDevice(ordinal_));
  TW_CUDA_NOTHROW(cudaStreamSynchronize(stream_));
  staging_.close();
  pool_.close();
  for (const std::span<const cudaEvent_t> events : {std::span<const cudaEvent_t>(clock_), {marks_}})
    for (cudaEvent_t event : events)
      if (event != nullptr) TW_CUDA_NOTHROW(cudaEventDestroy(event));
  if (owns_stream_ && stream_ != nullptr) TW_CUDA_NOTHROW(cudaStreamDestroy(stream_));
  if (beside_ != nullptr) TW_CUDA_NOTHROW(cudaStreamDestroy(beside_));
}

void queue::make_current() const { TW_CUDA(cudaSetDevice(ordinal_)); }

std::uint64_t* queue::lasting(std::uint64_t words) { return lasting(words, 0x7fffffff); }

std::uint64_t* queue::lasting(std::uint64_t words, std::uint32_t most_calls) {
  make_current();
  if (words > lasting_words_) {
    const std::uint64_t grown = std::bit_ceil(words);
    void* const fresh = pool_.take(grown * sizeof(std::uint64_t));
    if (lasting_ != nullptr) pool_.give(lasting_);
    lasting_ = static_cast<std::uint64_t*>(fresh);
    lasting_words_ = grown;
    lasting_calls_ = most_calls;
  }
  if (lasting_calls_ >= most_calls) {
    TW_CUDA(cudaMemsetAsync(lasting_, 0, lasting_words_ * sizeof(std::uint64_t), stream_));
    lasting_calls_ = 0;  // only after success: otherwise the call after a failed one would find old contents
  }
  ++lasting_calls_;
  return lasting_;
}

memory queue::allocate(std::uint64_t bytes) {
  if (bytes == 0) return {};
  make_current();
  return {pool_.take(bytes), 0, bytes};
}

void queue::release(memory what) noexcept {
  if (what.base != nullptr) pool_.give(what.base);
}

/// `base` is null and `offset` holds the address. That distinguishes the caller's memory from the pool's, even if the
/// caller wraps part of an array of this queue.
memory queue::wrap(void* native, std::uint64_t bytes) {
  return {nullptr, reinterpret_cast<std::uintptr_t>(native), bytes};
}

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  make_current();
  if (bytes <= staging::most_bytes) return staging_.upload(to.as<void>(), from, bytes, stream_);
  finish();  // earlier work may still use this memory
  transfers_->send(to, from, bytes).wait();
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  make_current();
  const bool large = bytes > staging::most_bytes;
  if (bytes != 0 && !large) TW_CUDA(cudaMemcpyAsync(to, from.as<void>(), bytes, cudaMemcpyDeviceToHost, stream_));
  finish();
  if (large) transfers_->fetch(to, from, bytes).wait();
}

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  make_current();
  TW_CUDA(cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes, cudaMemcpyDefault, stream_));
}

void queue::open_to(const backend::queue& other) {
  if (!reaches(other)) return;
  const int reader = static_cast<const queue&>(other).ordinal_;
  int can = 0;
  if (reader != ordinal_) TW_CUDA(cudaDeviceCanAccessPeer(&can, reader, ordinal_));
  if (can != 0) pool_.open_to(reader);
}

bool queue::reads(const backend::queue& other) const {
  return reaches(other) && static_cast<const queue&>(other).pool_.is_open_to(ordinal_);
}

unsigned queue::leave_mark() {
  make_current();
  last_mark_ = (last_mark_ + 1) % static_cast<unsigned>(marks_.size());
  TW_CUDA(cudaEventRecord(marks_[last_mark_], stream_));
  return last_mark_;
}

unsigned queue::beside(const std::function<void()>& enqueue) {
  const unsigned before = leave_mark();
  if (beside_ == nullptr) TW_CUDA(cudaStreamCreateWithFlags(&beside_, cudaStreamNonBlocking));
  std::swap(stream_, beside_);
  try {
    follow(*this, before);
    enqueue();
    const unsigned after = leave_mark();
    std::swap(stream_, beside_);
    return after;
  } catch (...) {
    std::swap(stream_, beside_);
    throw;
  }
}

void queue::follow(const backend::queue& other, unsigned mark) {
  if (!reaches(other)) return;  // the other queue has waited in leave_mark()
  make_current();
  TW_CUDA(cudaStreamWaitEvent(stream_, static_cast<const queue&>(other).marks_[mark]));
}

void queue::copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                      std::uint64_t rows) {
  constexpr std::uint64_t longest_stride = (std::uint64_t{1} << 31) - 1;  // cudaDeviceProp::memPitch
  if (std::max(to_stride, from_stride) > longest_stride)
    return backend::queue::copy_rows(to, to_stride, from, from_stride, width, rows);
  if (width == 0 || rows == 0) return;
  make_current();
  TW_CUDA(cudaMemcpy2DAsync(to.as<void>(), to_stride, from.as<void>(), from_stride, width, rows,
                            cudaMemcpyDeviceToDevice, stream_));
}

void queue::finish() {
  make_current();
  TW_CUDA(cudaStreamSynchronize(stream_));
}

void queue::start_clock() {
  make_current();
  TW_CUDA(cudaEventRecord(clock_[0], stream_));
}

double queue::stop_clock() {
  make_current();
  TW_CUDA(cudaEventRecord(clock_[1], stream_));
  TW_CUDA(cudaEventSynchronize(clock_[1]));
  float milliseconds = 0;
  TW_CUDA(cudaEventElapsedTime(&milliseconds, clock_[0], clock_[1]));
  return milliseconds * 1e6;
}

std::string too_many_groups(std::uint64_t groups) {
  constexpr std::uint64_t most_groups = 0x7fffffff;
  if (groups <= most_groups) return "";
  return "it needs " + std::to_string(groups) + " groups and CUDA launches at most " + std::to_string(most_groups) +
         "; use larger groups or tiles, or less data at a time";
}

}  // namespace tilewise::backend::cuda
