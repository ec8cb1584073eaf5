#include "registry/call.hpp"

#include <vector>

namespace tilewise::registry {

void call_on_host(const problem& p, const std::optional<device>& on, const wishes& wanted,
                  std::initializer_list<const void*> inputs, std::initializer_list<void*> outputs) {
  const device where = on ? *on : open("cpu");
  const choice how = choose(p, where.implementation(), wanted);
  execute_on_host(p, how, where.implementation().queue(), {inputs.begin(), inputs.size()},
                  {outputs.begin(), outputs.size()});
}

void call_on_arrays(const problem& p, const wishes& wanted, std::initializer_list<array_operand> inputs,
                    std::initializer_list<array_operand> outputs) {
  const array_operand& first = *outputs.begin();
  backend::device& on = first.on.implementation();
  for (const auto& operands : {inputs, outputs})
    for (const array_operand& a : operands)
      if (&a.on.implementation() != &on)
        throw error(errc::invalid_argument, std::string(a.name) + " is on " + a.on.name() + ", but " +
                                                std::string(first.name) + " is on " + on.info().name +
                                                "; copy one of them over");
  const choice how = choose(p, on, wanted);
  memories where;
  for (std::size_t i = 0; i < inputs.size(); ++i) where.in[i] = inputs.begin()[i].where;
  for (std::size_t i = 0; i < outputs.size(); ++i) where.out[i] = outputs.begin()[i].where;
  how.variant->run(p, where, how.tuning, on.queue());
}

namespace {

/// Addresses of one space: host or device pointers, or offsets in one cl_mem.
struct range {
  std::string_view name;
  const void* space;
  std::uintptr_t begin, end;

  explicit range(const host_operand& o)
      : name(o.name), space(nullptr), begin(reinterpret_cast<std::uintptr_t>(o.data)), end(begin + o.bytes) {}
  explicit range(const array_operand& a) : name(a.name) {
    const bool has_addresses = a.on.info().backend != "opencl";
    space = has_addresses ? nullptr : a.where.base;
    begin = (has_addresses ? reinterpret_cast<std::uintptr_t>(a.where.base) : 0) + a.where.offset;
    end = begin + a.where.bytes;
  }

  bool overlaps(const range& other) const { return space == other.space && begin < other.end && other.begin < end; }
  bool is(const range& other) const { return space == other.space && begin == other.begin && end == other.end; }
};

void refuse(const range& output, const range& other) {
  throw error(errc::invalid_argument, std::string(output.name) + " shares memory with " + std::string(other.name) +
                                          "; give it memory of its own");
}

template <class Operand>
void refuse_among(aliasing allowed, std::initializer_list<Operand> inputs, std::initializer_list<Operand> outputs) {
  const std::vector<range> in(inputs.begin(), inputs.end()), out(outputs.begin(), outputs.end());
  for (std::size_t o = 0; o < out.size(); ++o) {
    for (std::size_t i = 0; i < in.size(); ++i)
      if (out[o].overlaps(in[i]) && !(allowed == aliasing::in_place && i == o && out[o].is(in[i])))
        refuse(out[o], in[i]);
    for (std::size_t i = 0; i < o; ++i)
      if (out[o].overlaps(out[i])) refuse(out[o], out[i]);
  }
}

}  // namespace

void refuse_overlap(aliasing allowed, std::initializer_list<host_operand> inputs,
                    std::initializer_list<host_operand> outputs) {
  refuse_among(allowed, inputs, outputs);
}
void refuse_overlap(aliasing allowed, std::initializer_list<array_operand> inputs,
                    std::initializer_list<array_operand> outputs) {
  refuse_among(allowed, inputs, outputs);
}

void require_elements(std::string_view name, const std::string& shape, std::uint64_t needed, std::uint64_t given) {
  if (given < needed)
    throw error(errc::invalid_argument, std::string(name) + " is " + shape + ", which needs " + std::to_string(needed) +
                                            " elements, but has " + std::to_string(given));
}

}  // namespace tilewise::registry
