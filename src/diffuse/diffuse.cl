// What:   what the OpenCL diffusion kernels share: an element as the next step sees it, and its step.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Limits: behind order/operators.cl; TW_MASK is 53, 93 or 95.
// Twins:  diffuse_serial.cpp.

#ifndef TW_MASK
#define TW_MASK 53
#endif
#define TW_RADIUS (TW_MASK == 95 ? 2 : 1)

// The fields of `weights` in diffuse_problem.hpp.
enum { TW_CENTRE, TW_SIDE_X, TW_SIDE_Y, TW_CORNER, TW_FAR_X, TW_FAR_Y, TW_RATE };

static inline bool tw_in_strip(long j, long i, long rows, long columns) {
  return j < rows / 2 ? i == 0 : i == columns - 1;
}

// `old` points to the element in a tile whose rows are `pitch` apart.
static inline TW_T tw_stepped(__local const TW_T* old, int pitch, __constant const TW_T* w) {
  TW_T lap;
#if TW_MASK == 53
  lap = w[TW_SIDE_Y] * old[-pitch];
  lap = lap + w[TW_SIDE_X] * old[-1];
  lap = lap + w[TW_CENTRE] * old[0];
  lap = lap + w[TW_SIDE_X] * old[1];
  lap = lap + w[TW_SIDE_Y] * old[pitch];
#elif TW_MASK == 93
  lap = w[TW_CORNER] * old[-pitch - 1];
  lap = lap + w[TW_SIDE_Y] * old[-pitch];
  lap = lap + w[TW_CORNER] * old[-pitch + 1];
  lap = lap + w[TW_SIDE_X] * old[-1];
  lap = lap + w[TW_CENTRE] * old[0];
  lap = lap + w[TW_SIDE_X] * old[1];
  lap = lap + w[TW_CORNER] * old[pitch - 1];
  lap = lap + w[TW_SIDE_Y] * old[pitch];
  lap = lap + w[TW_CORNER] * old[pitch + 1];
#else
  lap = w[TW_FAR_Y] * old[-2 * pitch];
  lap = lap + w[TW_SIDE_Y] * old[-pitch];
  lap = lap + w[TW_FAR_X] * old[-2];
  lap = lap + w[TW_SIDE_X] * old[-1];
  lap = lap + w[TW_CENTRE] * old[0];
  lap = lap + w[TW_SIDE_X] * old[1];
  lap = lap + w[TW_FAR_X] * old[2];
  lap = lap + w[TW_SIDE_Y] * old[pitch];
  lap = lap + w[TW_FAR_Y] * old[2 * pitch];
#endif
  return old[0] + w[TW_RATE] * lap;
}

// Beyond an edge stands the edge's element.
static inline TW_T tw_element(__global const TW_T* field, long j, long i, long rows, long columns) {
  j = clamp(j, 0l, rows - 1);
  i = clamp(i, 0l, columns - 1);
  return tw_in_strip(j, i, rows, columns) ? (TW_T)1 : field[j * columns + i];
}
