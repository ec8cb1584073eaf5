#include "lab/operands.hpp"

namespace tilewise::lab {

std::uint64_t operand_bytes(const registry::problem& p) {
  std::uint64_t bytes = p.what->inputs(p).front().bytes();
  for (const auto& o : p.what->inputs(p)) bytes += o.bytes();
  for (const auto& o : p.what->outputs(p)) bytes += o.bytes();
  return bytes;
}

operands::operands(const verified_case& inputs, backend::queue& queue, unsigned sets) : case_(inputs), queue_(queue) {
  for (unsigned s = 0; s < sets; ++s) {
    registry::memories& where = sets_.emplace_back();
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      where.in[i] = place(case_.inputs[i].size());
      if (!case_.inputs[i].empty()) queue_.upload(where.in[i], case_.inputs[i].data(), case_.inputs[i].size());
    }
    for (std::size_t i = 0; i < case_.expected.size(); ++i) where.out[i] = place(case_.expected[i].size());
  }
  const std::uint64_t copied = case_.inputs.front().size();
  copy_target_ = case_.expected.front().size() >= copied ? sets_.front().out[0] : place(copied);
  poison_outputs();
}

backend::memory operands::place(std::uint64_t bytes) { return buffers_.emplace_back(queue_, bytes); }

void operands::poison_outputs() {
  for (std::size_t i = 0; i < case_.expected.size(); ++i) {
    const std::vector<std::byte> poison(case_.expected[i].size(), std::byte{0xa5});
    if (!poison.empty()) queue_.upload(sets_.front().out[i], poison.data(), poison.size());
  }
}

std::vector<std::vector<std::byte>> operands::download_outputs() {
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < case_.expected.size(); ++i) {
    auto& bytes = outputs.emplace_back(case_.expected[i].size());
    if (!bytes.empty()) queue_.download(bytes.data(), sets_.front().out[i], bytes.size());
  }
  return outputs;
}

}  // namespace tilewise::lab
