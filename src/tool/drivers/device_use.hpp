// SPDX-License-Identifier: Apache-2.0
// Devices as the commands see them: opened by the shared options, with faulty drivers left out and named.
#pragma once

#include "backend/backend.hpp"
#include "tool/commands.hpp"

namespace tilewise::cli {

using device_handle = std::shared_ptr<backend::device>;

/// The device that this name, or TILEWISE_DEVICE in place of "auto", stands for; "auto" if that is left open.
std::string meant_by(const std::string& name);

/// The device that --device and --threads name. Throws `unsupported` for one that is not here, with the nearest names.
device_handle open_device(const common_options& options);

/// The devices that repeated --device options name, each once. "all": every device of every backend, cpu executors
/// included. Throws as open_device does.
std::vector<device_handle> open_devices(const device_list_options& options);

/// The devices of one backend, or a sentence that says why there are none. Faulty drivers are left out first.
std::vector<device_handle> devices_of(const backend::runtime& runtime, std::string& why_none);

}  // namespace tilewise::cli
