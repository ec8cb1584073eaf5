// SPDX-License-Identifier: Apache-2.0
// A group: the rows that are measured together, for one problem on one device or on devices that are compared.
#pragma once

#include "lab/plan/experiment.hpp"
#include "lab/verify/generate.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewise::lab {

/// The device's name; "4*mpi:cpu:serial" for "mpi:cpu:serial" where mpirun has started four processes.
std::string sized_name(const backend::device& of);

/// One line of a group: a variant, or a limit of its device, which is a variant too (limit.hpp).
struct row {
  const registry::variant* variant;
  std::shared_ptr<backend::device> on;
  registry::tuning tuning = {};
  std::string skip = {};                     // why it cannot run here; it still gets a record
  const registry::tuned* applied = nullptr;  // the stored tuning that was applied, if any; must outlive the row

  std::string id() const { return variant->id(); }  // "scan/cuda:lookback", "copy/cuda", "fma/cuda"
  /// Where it runs: "cuda:0", "cpu:openmp". It is "cpu" for code that runs its own threads or none, whatever `on` is.
  std::string place() const;
  bool is_default_tuning() const;
};

/// Whether two rows work on the same memory: all CPU executors use the host's, every other device its own.
bool share_memory(const row& a, const row& b);

/// Rows that are compared: one problem on one device. All CPU executors count as one device here. Rows of several
/// devices are ordered by device.
struct group {
  registry::problem problem;
  std::string where;  // "cpu", "cuda:0"
  std::vector<row> rows;
  const experiment* from = nullptr;  // set if a document asked for the group
  std::optional<data_class> asked_data = {};

  /// Whether the document supplies inputs for the group.
  bool has_own_inputs() const;
  data_class made_of() const;  // the class of generated inputs, if it does not
  std::string data() const;    // "seeds" for a document's own inputs, "uniform"
  std::string title() const;   // of all devices' groups: a document may have one problem with several kinds of data
  std::string name() const;    // "scan.f32 n=1024 op=sum kind=inclusive init=none @cpu"
};

/// The data class for a problem if none is asked for: near_one for products, which would vanish with uniform data, and
/// uniform for all others.
data_class data_for(const registry::problem& p);

}  // namespace tilewise::lab
