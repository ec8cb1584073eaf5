// SPDX-License-Identifier: Apache-2.0
// The public functions of groups.
#include <tilewise/groups.hpp>

#include "backend/backend.hpp"
#include "backend/group/device.hpp"
#include "base/enter.hpp"
#include "base/instantiate.hpp"

#include <numeric>

namespace tilewise {

namespace {

namespace impl = backend::group;

bool is_group(const device& on) { return on.info().backend == "group"; }

impl::queue& queue_of(const device& group) {
  if (!is_group(group))
    throw error(errc::invalid_argument, group.name() + " is one device; open a group, such as 2*" + group.name());
  return impl::enter(group.implementation().queue());
}

template <class T>
array<T> array_of_parts(const device& group, std::vector<std::uint64_t> border) {
  const std::uint64_t bytes = border.back();
  return {group, backend::owned(group.shared(), queue_of(group).allocate_parts(std::move(border))), bytes / sizeof(T)};
}

/// Collective: the borders of all ranks' shards, where this process's ranks have the shards `parts`.
template <class T>
std::vector<std::uint64_t> borders_for(impl::queue& queue, std::span<const std::span<const T>> parts) {
  std::vector<std::uint64_t> bytes(queue.ranks());
  queue.on_each_rank([&](const impl::rank& r) {
    const std::uint64_t mine = parts[r.index() - queue.first_rank()].size_bytes();
    const std::vector<std::uint64_t> all = r.all_gather(mine);
    if (r.index() == queue.first_rank()) bytes = all;
  });
  std::vector<std::uint64_t> border{0};
  std::partial_sum(bytes.begin(), bytes.end(), std::back_inserter(border));
  return border;
}

}  // namespace

group_ranks ranks_of(const device& group) {
  const impl::queue& queue = queue_of(group);
  return {queue.ranks(), queue.first_rank(), queue.ranks_here()};
}

template <class T>
array<T> upload_parts(const device& group, std::span<const std::span<const T>> parts) {
  return base::enter([&] {
    impl::queue& queue = queue_of(group);
    if (parts.size() != queue.ranks_here())
      throw error(errc::invalid_argument,
                  "there are " + std::to_string(parts.size()) + " parts, but " + std::to_string(queue.ranks_here()) +
                      " ranks in this process; give each rank its part, an empty one if need be");
    for (const std::span<const T>& part : parts)
      if (part.data() == nullptr && !part.empty())
        throw error(errc::invalid_argument, "a part is a null pointer to " + std::to_string(part.size()) +
                                                " elements; pass memory that holds them");
    array<T> made = array_of_parts<T>(group, borders_for(queue, parts));
    queue.on_each_rank([&](const impl::rank& r) {
      const impl::byte_range mine = r.part(made.storage());
      if (mine.bytes() != 0)
        r.queue().upload(local(made.storage(), r.index(), mine), parts[r.index() - queue.first_rank()].data(),
                         mine.bytes());
    });
    return made;
  });
}

template <class T>
std::vector<std::uint64_t> borders_of(const array<T>& values) {
  return base::enter([&] {
    const impl::queue& queue = queue_of(values.device());
    std::vector<std::uint64_t> border{0};
    for (unsigned i = 0; i < queue.ranks(); ++i) border.push_back(impl::part_of(values.storage(), i).end / sizeof(T));
    return border;
  });
}

template <class T>
std::vector<std::vector<T>> download_parts(const array<T>& values) {
  return base::enter([&] {
    impl::queue& queue = queue_of(values.device());
    std::vector<std::vector<T>> parts(queue.ranks_here());
    queue.on_each_rank([&](const impl::rank& r) {
      const impl::byte_range mine = r.part(values.storage());
      std::vector<T>& part = parts[r.index() - queue.first_rank()];
      part.resize(mine.bytes() / sizeof(T));
      if (mine.bytes() != 0) r.queue().download(part.data(), local(values.storage(), r.index(), mine), mine.bytes());
      r.queue().finish();
    });
    return parts;
  });
}

template <class T>
array<T> allocate_like(const array<T>& other) {
  if (!is_group(other.device())) return other.device().template allocate<T>(other.size());
  return base::enter([&] {
    std::vector<std::uint64_t> border = borders_of(other);
    for (std::uint64_t& at : border) at *= sizeof(T);
    return array_of_parts<T>(other.device(), std::move(border));
  });
}

#define TILEWISE_INSTANTIATE(T)                                                          \
  template array<T> upload_parts<T>(const device&, std::span<const std::span<const T>>); \
  template std::vector<std::uint64_t> borders_of<T>(const array<T>&);                    \
  template std::vector<std::vector<T>> download_parts<T>(const array<T>&);               \
  template array<T> allocate_like<T>(const array<T>&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
