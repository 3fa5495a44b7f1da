// Splits floats into sums of three bfloat16, and packs these parts for the matrix unit
// (amx_gemm.h).
//
// A float's 24 binary digits are split into 8 + 8 + 8. The second part is rounded, so that the last
// one is small. The sum is exact unless a part is below 2^-126.
//
// A line is a row of the left operand or a column of the right one. The depth of a product is the
// number of elements of a line. Lines are packed in a hierarchy of contiguous pieces:
//   panel:  32 lines, as a sequence of steps.
//   step:   32 elements of each line, as three parts.
//   part:   the first, second or third part of each of these floats, as two squares.
//   square: 16 rows of 16 pairs of bfloat16 (1 KB), the contents of a tile register.
//
// The unit multiplies pairs: two elements of a left line by the elements at the same depths of a
// right line. It adds both products to a sum. In a square of the left operand, a row has pairs of
// one line. In a square of the right operand, a row has the pairs of 16 lines at the same depths. A
// pair consists of the elements at depths d and d + 16. So two vectors of elements become a vector
// of pairs without moving elements to other lanes.
#ifndef SLUICE_OPS_MATMUL_SPLIT_LINES_H_
#define SLUICE_OPS_MATMUL_SPLIT_LINES_H_

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ops/matmul/vector_squares.h"

namespace sluice {

#define SLUICE_AMX \
  __attribute__((target("amx-tile,amx-bf16,avx512f,avx512vl,avx512bw,avx512dq,fma")))
#define SLUICE_AMX_INLINE SLUICE_AMX inline __attribute__((always_inline))

inline constexpr int64_t kPanelLines = 32;
inline constexpr int64_t kStepDepth = 32;
inline constexpr int64_t kSquareBytes = 1024;
inline constexpr int64_t kPartBytes = 2 * kSquareBytes;
inline constexpr int64_t kStepBytes = 3 * kPartBytes;
inline constexpr int64_t kUnits = 32;  // units per step of a panel. A unit is a vector of 16 pairs

inline int64_t StepsOf(int64_t depth) { return (depth + kStepDepth - 1) / kStepDepth; }

// One operand's lines over some steps of their depth. The depth may consist of several segments,
// like the operands of a sum of products. A segment always begins with a new step.
struct Lines {
  const float* const* segments;
  int64_t segment_depth;
  int64_t offset;  // position of the first line in each segment
  int64_t line_step, depth_step;
  int64_t count;
  int64_t first_step, steps;
  bool is_left;

  // Whether vectors are read along the depth of a line, not across lines.
  bool runs_along() const { return depth_step == 1; }
  // Whether a vector that is read becomes a row of a square. If not, packed squares have to be
  // transposed.
  bool is_natural() const { return runs_along() == is_left; }

  const float* At(int64_t step) const {
    const int64_t of_segment = StepsOf(segment_depth), at = first_step + step;
    return segments[at / of_segment] + offset + at % of_segment * kStepDepth * depth_step;
  }
  // The number of elements of each line in a step: kStepDepth, or less at the end of a segment.
  int64_t DepthAt(int64_t step) const {
    return std::min(kStepDepth,
                    segment_depth - (first_step + step) % StepsOf(segment_depth) * kStepDepth);
  }
  // The number of steps before the first partial one.
  int64_t WholeSteps() const {
    if (segment_depth % kStepDepth == 0) return steps;
    const int64_t of_segment = StepsOf(segment_depth);
    return std::min(steps, of_segment - 1 - first_step % of_segment);
  }

  Lines From(int64_t line, int64_t most) const {
    Lines l = *this;
    l.offset += line * line_step;
    l.count = std::min(most, count - line);
    return l;
  }
  Lines FromStep(int64_t step, int64_t most) const {
    Lines l = *this;
    l.first_step += step;
    l.steps = std::min(most, steps - step);
    return l;
  }
};

SLUICE_AMX_INLINE __m512i UpperHalves(__m512i x) {
  return _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
}

// Splits x into parts. The first part is truncated, the second one rounded.
SLUICE_AMX_INLINE void Split(__m512 x, __m512i (&parts)[3]) {
  parts[0] = UpperHalves(_mm512_castps_si512(x));
  x = _mm512_sub_ps(x, _mm512_castsi512_ps(parts[0]));
  const __m512i half = _mm512_set1_epi32(0x8000);
  parts[1] = UpperHalves(_mm512_add_epi32(_mm512_castps_si512(x), half));
  x = _mm512_sub_ps(x, _mm512_castsi512_ps(parts[1]));
  parts[2] = _mm512_castps_si512(x);
}

// Collects the largest magnitudes of the first parts of floats, lane by lane. They show whether
// sums of products might overflow.
class Magnitudes {
 public:
  SLUICE_AMX_INLINE void Add(__m512i pairs) {
    const __m512i without_sign = _mm512_and_si512(pairs, _mm512_set1_epi16(0x7fff));
    most_ = _mm512_max_epu16(most_, without_sign);
  }
  // An upper bound of the floats' magnitudes. NaN if one of the floats is infinite or NaN.
  SLUICE_AMX float Most() const {
    const uint32_t most = std::max(_mm512_reduce_max_epu32(UpperHalves(most_)),
                                   _mm512_reduce_max_epu32(_mm512_slli_epi32(most_, 16)));
    return std::bit_cast<float>(most | 0xffff);
  }

 private:
  __m512i most_ = {};
};

// Splits the floats of x and y. For each of the three parts, stores a vector of 16 pairs: lane i
// has the parts of x[i] and y[i].
SLUICE_AMX_INLINE void StorePairs(__m512 x, __m512 y, char* to, Magnitudes& magnitudes) {
  __m512i of_x[3], of_y[3];
  Split(x, of_x);
  Split(y, of_y);
#pragma GCC unroll 3
  for (int part = 0; part < 3; ++part) {
    const __m512i pairs = _mm512_or_si512(_mm512_srli_epi32(of_x[part], 16), of_y[part]);
    if (part == 0) magnitudes.Add(pairs);
    _mm512_store_si512(to + part * kPartBytes, pairs);
  }
}

SLUICE_AMX_INLINE __m512 Floats(const float* from, int64_t count) {
  if (count >= 16) return _mm512_loadu_ps(from);
  const auto mask = static_cast<__mmask16>(count <= 0 ? 0 : (1u << count) - 1);
  return _mm512_maskz_loadu_ps(mask, from);
}

// Packs one unit. The panel may have fewer than 32 lines, and the step fewer than 32 elements of
// each line. The missing elements are packed as zeros.
SLUICE_AMX_INLINE void PackUnit(const Lines& l, int64_t step, int64_t unit, char* to,
                                Magnitudes& magnitudes) {
  const int64_t row = unit % 16, half = unit / 16, depth = l.DepthAt(step);
  __m512 x = _mm512_setzero_ps(), y = x;
  // Reads 32 elements of one line, or the elements of 16 lines at two depths.
  if (l.runs_along()) {
    if (unit < l.count) {
      const float* from = l.At(step) + unit * l.line_step;
      x = Floats(from, depth);
      y = Floats(from + 16, depth - 16);
    }
  } else {
    const float* from = l.At(step) + row * l.depth_step + half * 16;
    const int64_t lines = l.count - half * 16;
    if (row < depth) x = Floats(from, lines);
    if (row + 16 < depth) y = Floats(from + 16 * l.depth_step, lines);
  }
  StorePairs(x, y, to + unit * 64, magnitudes);
}

// Packs the lines of a panel, a few units at a time, so that products can run in between.
class PanelPacker {
 public:
  // Begins a panel. The previous panel must be finished. `lines` is copied, but not its elements,
  // which must be valid until Finish.
  SLUICE_AMX void Start(const Lines& lines, char* to) {
    lines_ = lines;
    panel_ = to_ = to;
    from_ = lines.At(0);
    unit_ = 0;
    whole_units_ = lines.count == kPanelLines ? lines.WholeSteps() * kUnits : 0;
    of_row_ = lines.runs_along() ? lines.line_step : lines.depth_step;
    to_second_half_ = lines.runs_along() ? 0 : 16 - 16 * lines.depth_step;
    of_second_ = 16 * lines.depth_step;
  }
  // Packs up to `units` more units. Leaves units of partial steps and panels to Finish.
  SLUICE_AMX_INLINE void Some(int64_t units) {
    for (units = std::min(units, whole_units_ - unit_); units > 0; --units) {
      __m512 x = _mm512_loadu_ps(from_), y = _mm512_loadu_ps(from_ + of_second_);
      asm("" : "+v"(x), "+v"(y));  // loads each only once
      StorePairs(x, y, to_, magnitudes_);
      from_ += of_row_;
      to_ += 64;
      ++unit_;
      if ((unit_ & 15) != 0) continue;
      if ((unit_ & 16) != 0) {
        from_ += to_second_half_;
      } else if (unit_ < whole_units_) {
        from_ = lines_.At(unit_ / kUnits);
        to_ += kStepBytes - kPartBytes;
      }
    }
  }
  // Packs the remaining units.
  SLUICE_AMX void Finish() {
    Some(whole_units_);
    for (; unit_ < lines_.steps * kUnits; ++unit_) {
      const int64_t step = unit_ / kUnits;
      PackUnit(lines_, step, unit_ % kUnits, panel_ + step * kStepBytes, magnitudes_);
    }
  }
  // An upper bound (Magnitudes::Most) of the magnitudes that were packed since the last call.
  SLUICE_AMX float TakeMost() { return std::exchange(magnitudes_, Magnitudes()).Most(); }

 private:
  Lines lines_;
  char* panel_;
  int64_t whole_units_, unit_;
  const float* from_;
  char* to_;
  int64_t of_row_, of_second_, to_second_half_;  // in floats
  Magnitudes magnitudes_;
};

SLUICE_AMX_INLINE void TurnSquare(char* square) {
  Vec rows[kVecLanes];
  std::memcpy(rows, square, sizeof(rows));
  TransposeRows(rows);
  std::memcpy(square, rows, sizeof(rows));
}

// Packs a whole panel of any layout.
SLUICE_AMX inline void PackPanel(PanelPacker& packer, const Lines& l, char* to) {
  for (int64_t step = 0; step < l.steps; ++step, to += kStepBytes) {
    packer.Start(l.FromStep(step, 1), to);
    packer.Finish();
    if (l.is_natural()) continue;
    for (int64_t square = 0; square < 6; ++square) TurnSquare(to + square * kSquareBytes);
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_SPLIT_LINES_H_
