// SPDX-License-Identifier: Apache-2.0
// What the shared library exports.
#pragma once

/// Marks what the library defines for its users; its other names stay inside. A class brings its members along, and a
/// template its instances in the library.
#define TILEWISE_API [[gnu::visibility("default")]]
