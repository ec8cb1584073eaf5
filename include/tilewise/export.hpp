// SPDX-License-Identifier: Apache-2.0
// What the shared library exports.
#pragma once

/// Exports a name to users of the library; all other names are hidden. On a class it exports the members, on a template
/// the instances that the library contains.
#define TILEWISE_API [[gnu::visibility("default")]]
