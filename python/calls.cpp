// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace tilewise::python {

namespace {

/// Locks for devices: one for all of them, which a group takes alone, and one for each device. Two devices may share a
/// lock; then they only wait for each other. A child of fork() has its own locks, since nobody in the child would
/// release those that other threads held.
struct all_locks {
  std::shared_mutex groups;
  std::array<std::mutex, 64> devices;
  std::atomic<std::thread::id> last_caller{};  // the thread that ends the program

  std::mutex list;
  std::vector<std::weak_ptr<backend::device>> used;
  std::vector<const backend::device*> left_alone;
};

void note_use(all_locks& all, const device& at) {
  const std::lock_guard mine(all.list);
  if (std::find(all.left_alone.begin(), all.left_alone.end(), at.shared().get()) != all.left_alone.end()) return;
  for (const auto& one : all.used)
    if (one.lock() == at.shared()) return;
  std::erase_if(all.used, [](const auto& one) { return one.expired(); });
  all.used.push_back(at.shared());
}

all_locks& locks() {
  alignas(all_locks) static unsigned char memory[sizeof(all_locks)];
  static all_locks* const made = [] {
    pthread_atfork(nullptr, nullptr, [] { new (memory) all_locks; });
    return new (memory) all_locks;
  }();
  return *made;
}

[[noreturn]] void wait_for_the_end() {
  while (true) pause();
}

}  // namespace

void end_turns() {
  all_locks& all = locks();
  all.last_caller = std::this_thread::get_id();
  all.groups.lock();
  for (const auto& one : all.used) {
    const auto still_there = one.lock();
    try {
      if (still_there) device(still_there).finish();
    } catch (const error&) {  // at the end of the program nobody can be told
    }
  }
}

void leave_alone_at_the_end(const device& at) {
  all_locks& all = locks();
  const std::lock_guard mine(all.list);
  all.left_alone.push_back(at.shared().get());
}

turn::turn(const device& at) {
  const std::string& backend = at.info().backend;
  if (backend == "cpu") return;
  all_locks& all = locks();
  const std::thread::id last = all.last_caller;
  if (last == std::this_thread::get_id()) return;
  if (last != std::thread::id()) wait_for_the_end();
  note_use(all, at);
  if (backend == "group") {
    alone_ = std::unique_lock(all.groups);
  } else {
    beside_others_ = std::shared_lock(all.groups);
    const std::size_t which = std::hash<const void*>{}(at.shared().get()) / 64 % all.devices.size();
    at_one_ = std::unique_lock(all.devices[which]);
  }
}

const device& device_array::device() const {
  return std::visit([](const auto& a) -> const tilewise::device& { return a.device(); }, *values_);
}
std::uint64_t device_array::size() const {
  return std::visit([](const auto& a) { return a.size(); }, *values_);
}
void* device_array::native() const {
  return std::visit([](const auto& a) { return a.native(); }, *values_);
}

device_array::~device_array() {
  const tilewise::device kept = device();
  const turn mine(kept);
  values_.reset();
}

void device_array::download(void* to) const {
  const turn mine(device());
  std::visit([to](const auto& a) { a.download(std::span(static_cast<decltype(a.download().data())>(to), a.size())); },
             *values_);
}

void device_array::finish() const {
  const turn mine(device());
  device().finish();
}

std::shared_ptr<device_array> allocate(const device& on, dtype type, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) { return std::make_shared<device_array>(on.allocate<T>(count)); });
}

std::shared_ptr<device_array> upload(const device& on, dtype type, const void* from, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) {
    return std::make_shared<device_array>(on.upload(std::span(static_cast<const T*>(from), count)));
  });
}

std::shared_ptr<device_array> view_of(const device& on, dtype type, void* native, std::uint64_t count) {
  const turn mine(on);
  return with_type(type, [&]<class T>(T) { return std::make_shared<device_array>(view<T>(on, native, count)); });
}

namespace calls {

namespace {

template <class Options>
Options options_of(const placement& how) {
  Options options;
  options.device = how.device;
  options.variant = how.variant;
  options.tuning = how.tuning;
  return options;
}

/// Makes a call in the turn of its device.
template <class Call>
void in_turn(const operand& first, const placement& how, const Call& call) {
  std::optional<turn> mine;
  if (first.there)
    mine.emplace(first.there->device());
  else if (how.device)
    mine.emplace(*how.device);
  call();
}

/// Calls with the operands as spans of type T, or as arrays on their device.
template <scalar T, class Call, class... Operands>
void with_memory(const Call& call, const operand& first, const Operands&... others) {
  if (first.there)
    call(first.there->as<T>(), others.there->template as<T>()...);
  else
    call(first.span<T>(), others.template span<T>()...);
}

}  // namespace

number reduce(const operand& in, op operation, const number* init, const placement& how) {
  auto options = options_of<reduce_options>(how);
  options.operation = operation;
  number result;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      with_memory<T>(
          [&](const auto& values) {
            result.set<T>(init ? tilewise::reduce(values, init->as<T>(), options) : tilewise::reduce(values, options));
          },
          in);
    });
  });
  return result;
}

void reduce_axis(const operand& in, matrix_layout of_in, axis which, const operand& values, op operation,
                 const number* init, const placement& how) {
  auto options = options_of<reduce_options>(how);
  options.operation = operation;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      with_memory<T>(
          [&](auto&& a, auto&& to) {
            init ? tilewise::reduce_axis(a, of_in, which, to, init->as<T>(), options)
                 : tilewise::reduce_axis(a, of_in, which, to, options);
          },
          in, values);
    });
  });
}

namespace {

template <class T, class In, class Out>
void scan_typed(const In& in, Out&& out, bool exclusive, const number* init, partial<T>* carry,
                const scan_options& options) {
  const auto call = [&](auto&&... rest) {
    exclusive ? tilewise::exclusive_scan(in, out, rest..., options)
              : tilewise::inclusive_scan(in, out, rest..., options);
  };
  if (init && carry)
    call(init->as<T>(), *carry);
  else if (init)
    call(init->as<T>());
  else if (carry)
    call(*carry);
  else
    call();
}

}  // namespace

void scan(const operand& in, const operand& out, bool exclusive, op operation, const number* init, any_partial* carry,
          const placement& how) {
  auto options = options_of<scan_options>(how);
  options.operation = operation;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      partial<T>* const before = carry ? &std::get<partial<T>>(*carry) : nullptr;
      with_memory<T>([&](auto&& from, auto&& to) { scan_typed<T>(from, to, exclusive, init, before, options); }, in,
                     out);
    });
  });
}

void scan_axis(const operand& in, matrix_layout of_in, axis which, const operand& out, matrix_layout of_out,
               bool exclusive, op operation, const number* init, const placement& how) {
  auto options = options_of<scan_options>(how);
  options.operation = operation;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      with_memory<T>(
          [&](auto&& a, auto&& to) {
            const auto call = [&](auto... given) {
              exclusive ? tilewise::exclusive_scan_axis(a, of_in, which, to, of_out, given..., options)
                        : tilewise::inclusive_scan_axis(a, of_in, which, to, of_out, given..., options);
            };
            init ? call(init->as<T>()) : call();
          },
          in, out);
    });
  });
}

void push(any_partial& onto, const operand& values, const placement& how) {
  auto options = options_of<reduce_options>(how);
  in_turn(values, how, [&] {
    with_type(values.type, [&]<class T>(T) {
      auto& typed = std::get<partial<T>>(onto);
      options.operation = typed.operation();
      with_memory<T>([&](const auto& more) { typed.push(more, options); }, values);
    });
  });
}

void sort(const operand& in, const operand& out, sort_order order, const placement& how) {
  auto options = options_of<sort_options>(how);
  options.order = order;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      with_memory<T>([&](auto&& from, auto&& to) { tilewise::sort(from, to, options); }, in, out);
    });
  });
}

void sort_axis(const operand& in, matrix_layout of_in, axis which, const operand& out, matrix_layout of_out,
               sort_order order, const placement& how) {
  auto options = options_of<sort_options>(how);
  options.order = order;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      with_memory<T>([&](auto&& a, auto&& to) { tilewise::sort_axis(a, of_in, which, to, of_out, options); }, in, out);
    });
  });
}

void argsort(const operand& in, const operand& indices, sort_order order, const placement& how) {
  auto options = options_of<sort_options>(how);
  options.order = order;
  in_turn(in, how, [&] {
    with_type(in.type, [&]<class T>(T) {
      if (in.there)
        tilewise::argsort(in.there->as<T>(), indices.there->as<std::uint32_t>(), options);
      else
        tilewise::argsort(in.span<T>(), indices.span<std::uint32_t>(), options);
    });
  });
}

void sort_by_key(const operand& keys, const operand& values, const operand& keys_out, const operand& values_out,
                 sort_order order, const placement& how) {
  auto options = options_of<sort_options>(how);
  options.order = order;
  // A sort only moves values in host memory, so they need a type of the right size only; arrays on a device keep their
  // type.
  const auto moved = [&] { return size_of(values.type) == 4 ? dtype::u32 : dtype::u64; };
  in_turn(keys, how, [&] {
    with_type(keys.type, [&]<class T>(T) {
      with_type(keys.there ? values.type : moved(), [&]<class V>(V) {
        if (keys.there)
          tilewise::sort_by_key(keys.there->as<T>(), values.there->as<V>(), keys_out.there->as<T>(),
                                values_out.there->as<V>(), options);
        else if constexpr (std::is_unsigned_v<V>)
          tilewise::sort_by_key(keys.span<T>(), values.span<V>(), keys_out.span<T>(), values_out.span<V>(), options);
      });
    });
  });
}

void matmul(const operand& a, matrix_layout of_a, const operand& b, matrix_layout of_b, const operand& c,
            matrix_layout of_c, bool fast, const placement& how) {
  auto options = options_of<matmul_options>(how);
  options.fast = fast;
  in_turn(a, how, [&] {
    with_type(a.type, [&]<class T>(T) {
      with_memory<T>(
          [&](auto&& left, auto&& right, auto&& to) { tilewise::matmul(left, of_a, right, of_b, to, of_c, options); },
          a, b, c);
    });
  });
}

void matvec(const operand& a, matrix_layout of_a, const operand& x, const operand& y, const placement& how) {
  const auto options = options_of<matvec_options>(how);
  in_turn(a, how, [&] {
    with_type(a.type, [&]<class T>(T) {
      with_memory<T>([&](auto&& rows, auto&& vector, auto&& to) { tilewise::matvec(rows, of_a, vector, to, options); },
                     a, x, y);
    });
  });
}

number dot(const operand& x, const operand& y, const placement& how) {
  const auto options = options_of<matvec_options>(how);
  number result;
  in_turn(x, how, [&] {
    with_type(x.type, [&]<class T>(T) {
      with_memory<T>([&](const auto& left, const auto& right) { result.set<T>(tilewise::dot(left, right, options)); },
                     x, y);
    });
  });
  return result;
}

void polymul(const operand& a, const operand& b, const operand& c, std::optional<std::uint64_t> modulus,
             const placement& how) {
  auto options = options_of<polymul_options>(how);
  options.modulus = modulus;
  in_turn(a, how, [&] {
    with_type(a.type, [&]<class T>(T) {
      if constexpr (coefficient<T>) {
        using P = product_of<T>;
        if (a.there)
          tilewise::polymul(a.there->as<T>(), b.there->as<T>(), c.there->as<P>(), options);
        else
          tilewise::polymul(a.span<T>(), b.span<T>(), c.span<P>(), options);
      }
    });
  });
}

void convolve(const operand& image, image_size of_image, const operand& mask, image_size of_mask, const operand& y,
              border at_edges, const placement& how) {
  auto options = options_of<convolve_options>(how);
  options.border = at_edges;
  in_turn(image, how, [&] {
    with_float(image.type, [&]<class T>(T) {
      with_memory<T>([&](auto&& pixels, auto&& weights,
                         auto&& to) { tilewise::convolve(pixels, of_image, weights, of_mask, to, options); },
                     image, mask, y);
    });
  });
}

void diffuse(const operand& field, const operand& result, const diffusion& problem, bool allow_unstable,
             const placement& how) {
  auto options = options_of<diffuse_options>(how);
  options.allow_unstable = allow_unstable;
  in_turn(field, how, [&] {
    with_float(field.type, [&]<class T>(T) {
      with_memory<T>([&](auto&& from, auto&& to) { tilewise::diffuse(from, to, problem, options); }, field, result);
    });
  });
}

}  // namespace calls

}  // namespace tilewise::python
