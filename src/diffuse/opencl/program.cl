// SPDX-License-Identifier: Apache-2.0
// What:   what the programs of diffusion on OpenCL share: the masks.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Shape:  an expression of the elements around one, wherever these are.
// Limits: embedded after order/operators.cl; TW_MASK is 53, 93 or 95.
// Twins:  mask.hpp; embedded before tiles.cl and registers.cl.
#ifndef TW_MASK
#define TW_MASK 53
#endif
#define TW_RADIUS (TW_MASK == 95 ? 2 : 1)

// The fields of `weights` in problem.hpp.
enum { TW_CENTRE, TW_SIDE_X, TW_SIDE_Y, TW_CORNER, TW_FAR_X, TW_FAR_Y, TW_RATE, TW_SCALED_RATE };

// The sum that a step adds, of the elements TW_AT(dy, dx) around one.
#if TW_MASK == 53
#define TW_LAPLACIAN(lap)                  \
  lap = w[TW_SIDE_Y] * TW_AT(-1, 0);       \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, -1); \
  lap = lap + w[TW_CENTRE] * TW_AT(0, 0);  \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, 1);  \
  lap = lap + w[TW_SIDE_Y] * TW_AT(1, 0);
#elif TW_MASK == 93
#define TW_LAPLACIAN(lap)                  \
  lap = w[TW_CORNER] * TW_AT(-1, -1);      \
  lap = lap + w[TW_SIDE_Y] * TW_AT(-1, 0); \
  lap = lap + w[TW_CORNER] * TW_AT(-1, 1); \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, -1); \
  lap = lap + w[TW_CENTRE] * TW_AT(0, 0);  \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, 1);  \
  lap = lap + w[TW_CORNER] * TW_AT(1, -1); \
  lap = lap + w[TW_SIDE_Y] * TW_AT(1, 0);  \
  lap = lap + w[TW_CORNER] * TW_AT(1, 1);
#else
#define TW_LAPLACIAN(lap)                  \
  lap = w[TW_FAR_Y] * TW_AT(-2, 0);        \
  lap = lap + w[TW_SIDE_Y] * TW_AT(-1, 0); \
  lap = lap + w[TW_FAR_X] * TW_AT(0, -2);  \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, -1); \
  lap = lap + w[TW_CENTRE] * TW_AT(0, 0);  \
  lap = lap + w[TW_SIDE_X] * TW_AT(0, 1);  \
  lap = lap + w[TW_FAR_X] * TW_AT(0, 2);   \
  lap = lap + w[TW_SIDE_Y] * TW_AT(1, 0);  \
  lap = lap + w[TW_FAR_Y] * TW_AT(2, 0);
#endif
