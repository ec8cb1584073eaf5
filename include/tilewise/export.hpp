// What is seen of the shared library.
#pragma once

/// Stands before what the library defines for its users; its other names stay inside. A class brings its members along,
/// a template its instances in the library.
#define TILEWISE_API [[gnu::visibility("default")]]
