// How the ranks of a group reach each other. No transport ever adds: it moves bytes, and sums are folds in the order.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend::group {

/// Memory of a rank's own device that goes to, or comes from, another rank.
struct parcel {
  unsigned peer;
  memory where;
};

/// One rank's end of it. All ranks call the same functions in the same order; each call may wait for the others. If one
/// of them fails, the others' calls throw.
class transport {
 public:
  virtual ~transport() = default;

  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;

  /// `bytes` of the host's memory from each rank to all, in order of rank; every rank gives equally many.
  virtual void all_gather(const void* mine, std::uint64_t bytes, void* all) = 0;

  /// What one rank sends to another in its order, the other receives in its own order, with the same sizes; nobody
  /// sends to itself. What is sent must have been enqueued in the rank's queue; work that is enqueued there afterwards
  /// sees what was received, and may overwrite what was sent.
  virtual void exchange(std::span<const parcel> sends, std::span<const parcel> receives) = 0;

  /// Host memory of which rank i has bytes [border[i], border[i + 1]): afterwards every rank has all of them.
  virtual void complete(void* host, std::span<const std::uint64_t> border) = 0;
};

}  // namespace tilewise::backend::group
