// SPDX-License-Identifier: Apache-2.0
// A transport that notes what passes through it, for measurements apart from the measured time.
#pragma once

#include "backend/group/transport.hpp"

namespace tilewise::backend::group {

/// What one rank has sent, in how many exchanges, and how long these took.
struct travel {
  std::uint64_t bytes = 0, exchanges = 0;
  double ns = 0;
};

/// One rank's end of another transport. Each exchange begins when the devices of all ranks have done their work, and
/// nobody goes on before it has ended on all: its time has nothing else in it.
class metered_transport final : public transport {
 public:
  metered_transport(transport& through, backend::queue& of_this_rank, travel& noted)
      : through_(through), queue_(of_this_rank), noted_(noted) {}

  unsigned rank() const override { return through_.rank(); }
  unsigned size() const override { return through_.size(); }
  void all_gather(const void* mine, std::uint64_t bytes, void* all) override;
  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) override;
  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) override;
  void give_back() override { through_.give_back(); }
  loan show(std::span<const parcel> sends, std::span<const demand> receives) override;
  void complete(void* host, std::span<const std::uint64_t> border) override { through_.complete(host, border); }

 private:
  template <class F>
  void note(std::uint64_t bytes, F exchange);

  transport& through_;
  backend::queue& queue_;
  travel& noted_;
};

/// Together: returns when all ranks are here.
void meet(transport& ranks);

}  // namespace tilewise::backend::group
