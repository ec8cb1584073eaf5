// SPDX-License-Identifier: Apache-2.0
// Devices for the commands: opened as the shared options say. Faulty drivers are left out and named.
#pragma once

#include "backend/backend.hpp"
#include "tool/commands.hpp"

namespace tilewise::cli {

using device_handle = std::shared_ptr<backend::device>;

/// Resolves a name of a device: TILEWISE_DEVICE replaces "auto" if it is set. Returns "auto" if neither names a device.
std::string meant_by(const std::string& name);

/// Opens the device that --device and --threads name. Throws `unsupported`, with the nearest names, if it does not
/// exist.
device_handle open_device(const common_options& options);

/// Opens the devices that repeated --device options name, each once. "all" is every device of every backend, including
/// all CPU executors. Throws as open_device does.
std::vector<device_handle> open_devices(const device_list_options& options);

/// The devices of one backend; if there are none, `why_none` is a sentence that says why. Faulty drivers are left out
/// first.
std::vector<device_handle> devices_of(const backend::runtime& runtime, std::string& why_none);

}  // namespace tilewise::cli
