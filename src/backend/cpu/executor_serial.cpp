// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/executors.hpp"

namespace tilewise::backend::cpu {

namespace {

class serial_executor final : public executor {
 public:
  std::string_view name() const override { return "serial"; }
  void share(unsigned workers, const std::function<void(unsigned)>& body) override { run_alone(workers, body); }
};

}  // namespace

std::unique_ptr<executor> make_serial_executor(unsigned) { return std::make_unique<serial_executor>(); }

}  // namespace tilewise::backend::cpu
