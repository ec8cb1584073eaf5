// SPDX-License-Identifier: Apache-2.0
#include "call/operands.hpp"

namespace tilewise::call {

std::vector<const void*> pointers_to(const host_operands& inputs) {
  std::vector<const void*> pointers;
  for (const auto& bytes : inputs) pointers.push_back(bytes.data());
  return pointers;
}

std::vector<void*> pointers_to(host_operands& outputs) {
  std::vector<void*> pointers;
  for (auto& bytes : outputs) pointers.push_back(bytes.data());
  return pointers;
}

operands::operands(const problem& p, backend::queue& queue)
    : queue_(&queue), in_(p.what->inputs(p)), out_(p.what->outputs(p)) {
  for (std::size_t i = 0; i < in_.size(); ++i) where_.in[i] = own(in_[i]);
  for (std::size_t i = 0; i < out_.size(); ++i) where_.out[i] = own(out_[i]);
}

operands::operands(const problem& p, backend::queue& queue, std::span<const void* const> inputs,
                   std::span<void* const> outputs)
    : queue_(&queue), in_(p.what->inputs(p)), out_(p.what->outputs(p)), in_place_(queue.works_on_host_memory()) {
  const auto place = [&](const void* host, const operand& o) -> backend::memory {
    if (!in_place_) return own(o);
    return buffers_.emplace_back(queue, queue.wrap_rows(const_cast<void*>(host), o.bytes(), o.row * size_of(o.type)));
  };
  const auto is_input = [&](std::size_t i, std::size_t o) {
    return inputs[i] == outputs[o] && in_[i].bytes() == out_[o].bytes();
  };
  for (std::size_t i = 0; i < in_.size(); ++i) where_.in[i] = place(inputs[i], in_[i]);
  for (std::size_t o = 0; o < out_.size(); ++o) {
    std::size_t same = 0;
    while (same < in_.size() && !is_input(same, o)) ++same;
    where_.out[o] = same < in_.size() ? where_.in[same] : place(outputs[o], out_[o]);
  }
}

backend::memory operands::own(const operand& o) {
  return buffers_.emplace_back(*queue_, o.bytes(), o.row * size_of(o.type));
}

void operands::keep_results_apart() {
  if (!in_place_) return;
  apart_ = true;
  for (std::size_t o = 0; o < out_.size(); ++o) where_.out[o] = own(out_[o]);
}

void operands::upload(std::span<const void* const> inputs) const {
  if (in_place_) return;
  for (std::size_t i = 0; i < in_.size(); ++i) queue_->upload(where_.in[i], inputs[i], in_[i].bytes());
}

void operands::upload_gaps(std::span<void* const> outputs) const {
  if (in_place_) return;
  for (std::size_t o = 0; o < out_.size(); ++o)
    if (out_[o].has_gaps) queue_->upload(where_.out[o], outputs[o], out_[o].bytes());
}

void operands::download(std::span<void* const> outputs) const {
  for (std::size_t o = 0; o < out_.size() && (!in_place_ || apart_); ++o)
    queue_->download(outputs[o], where_.out[o], out_[o].bytes());
  queue_->finish();
}

void operands::poison_outputs() const {
  for (std::size_t o = 0; o < out_.size(); ++o) {
    const std::vector<std::byte> poison(out_[o].bytes(), std::byte{0xa5});
    queue_->upload(where_.out[o], poison.data(), poison.size());
  }
}

}  // namespace tilewise::call
