#include "registry/execute.hpp"

#include <deque>

namespace tilewise::registry {

void check(const problem& p) {
  for (std::size_t i = 0; i < p.what->settings.size(); ++i)
    if (p.setting[i] >= p.what->settings[i].values.size())
      throw error(errc::invalid_argument, std::string(p.what->name) + " has no " +
                                              std::string(p.what->settings[i].name) + " number " +
                                              std::to_string(p.setting[i]));
  if (const std::string reason = p.what->invalid(p); !reason.empty()) throw error(errc::invalid_argument, reason);
}

void execute_on_host(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                     std::span<void* const> outputs) {
  const std::vector<operand> in = p.what->inputs(p), out = p.what->outputs(p);
  const bool in_place = queue.device().info().backend == "cpu";
  std::deque<backend::buffer> staged;
  memories where;
  const auto place = [&](const void* host, std::uint64_t bytes) -> backend::memory {
    if (in_place) return queue.wrap(const_cast<void*>(host), bytes);
    return staged.emplace_back(queue, bytes);
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    where.in[i] = place(inputs[i], in[i].bytes());
    if (!in_place) queue.upload(where.in[i], inputs[i], in[i].bytes());
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    where.out[i] = place(outputs[i], out[i].bytes());
    for (std::size_t j = 0; j < in.size() && !in_place; ++j)
      if (inputs[j] == outputs[i]) where.out[i] = where.in[j];
    if (!in_place && out[i].has_gaps) queue.upload(where.out[i], outputs[i], out[i].bytes());
  }
  how.variant->run(p, where, how.tuning, queue);
  if (in_place) return queue.finish();
  for (std::size_t i = 0; i < out.size(); ++i) queue.download(outputs[i], where.out[i], out[i].bytes());
}

}  // namespace tilewise::registry
