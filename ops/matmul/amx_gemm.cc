#include "ops/matmul/amx_gemm.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "executor/cpu/instruction_sets.h"
#include "ops/matmul/library_gemm.h"
#include "ops/matmul/split_lines.h"
#include "ops/matmul/thread_scratch.h"

namespace sluice {
namespace {

// Limits of a part of a product: the number of steps of its depth, and the number of floats in its
// stationary operand. The stationary operand fills half of the second-level cache.
constexpr int64_t kStepsMost = 16;
constexpr int64_t kStationaryFloats = 192 * 1024;

static_assert(kPackedColumns == kPanelLines);

struct AmxScratch {
  alignas(64) char stationary[kStationaryFloats / kStepDepth / kPanelLines * kStepBytes];
  alignas(64) char streamed[2][kStepsMost * kStepBytes];
  alignas(64) char unused_square[kSquareBytes];
  alignas(64) float block[kPanelLines * kPanelLines];
};

struct TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

SLUICE_AMX void SetUpTiles() {
  static constexpr TileConfig kConfig;
  _tile_loadconfig(&kConfig);
}

// Keeps the compiler from moving stores behind tile loads, because it does not know that tile loads
// read memory.
inline void Settle() { asm volatile("" ::: "memory"); }

// Adds the products of a left and a right panel to the four sums (tiles 0 to 3). While the matrix
// unit multiplies, `packer` packs a part of the next panel. Consecutive groups of products share a
// part of one operand, so that a step loads only 14 squares.
SLUICE_AMX void MultiplyPanels(const char* left, const char* right, int64_t steps,
                               char* unused_square, PanelPacker& packer, int64_t units) {
  Settle();
  PanelPacker next = packer;  // a copy in registers: stores to memory might alias `packer`

#define SLUICE_LEFT(part)                       \
  _tile_loadd(4, left + (part)*kPartBytes, 64); \
  _tile_loadd(5, left + (part)*kPartBytes + kSquareBytes, 64)
#define SLUICE_RIGHT(part)                       \
  _tile_loadd(6, right + (part)*kPartBytes, 64); \
  _tile_loadd(7, right + (part)*kPartBytes + kSquareBytes, 64)
#define SLUICE_PRODUCTS    \
  _tile_dpbf16ps(0, 4, 6); \
  _tile_dpbf16ps(1, 4, 7); \
  _tile_dpbf16ps(2, 5, 6); \
  _tile_dpbf16ps(3, 5, 7); \
  next.Some(units)
  for (; steps > 0; --steps, left += kStepBytes, right += kStepBytes) {
    // If the core stored nothing for 0.6 us, the next store would take 0.25 us longer. So every
    // other step stores a square that nothing reads.
    if (steps % 2 == 1) _tile_stored(7, unused_square, 64);
    SLUICE_LEFT(0);
    SLUICE_RIGHT(2);
    SLUICE_PRODUCTS;
    SLUICE_RIGHT(1);
    SLUICE_PRODUCTS;
    SLUICE_RIGHT(0);
    SLUICE_PRODUCTS;
    SLUICE_LEFT(2);
    SLUICE_PRODUCTS;
    SLUICE_LEFT(1);
    SLUICE_PRODUCTS;
    SLUICE_RIGHT(1);
    SLUICE_PRODUCTS;
  }
#undef SLUICE_LEFT
#undef SLUICE_RIGHT
#undef SLUICE_PRODUCTS
  packer = next;
  Settle();
}

SLUICE_AMX void ZeroSums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
SLUICE_AMX void LoadSums(const float* from, int64_t step) {
  Settle();
  const int64_t bytes = step * static_cast<int64_t>(sizeof(float));
  _tile_loadd(0, from, bytes);
  _tile_loadd(1, from + 16, bytes);
  _tile_loadd(2, from + 16 * step, bytes);
  _tile_loadd(3, from + 16 * step + 16, bytes);
}
SLUICE_AMX void StoreSums(float* to, int64_t step) {
  const int64_t bytes = step * static_cast<int64_t>(sizeof(float));
  _tile_stored(0, to, bytes);
  _tile_stored(1, to + 16, bytes);
  _tile_stored(2, to + 16 * step, bytes);
  _tile_stored(3, to + 16 * step + 16, bytes);
  Settle();
}

// The destination of a block of sums. It has rows x columns elements, or columns x rows if
// `turned`.
struct Target {
  float* to;
  int64_t step;
  int64_t rows, columns;
  bool turned, add;

  bool is_whole() const { return !turned && rows == kPanelLines && columns == kPanelLines; }
};

SLUICE_AMX void WriteSquare(const float* square, int64_t rows, int64_t columns, const Target& t,
                            float* to) {
  Vec lines[kVecLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kVecLanes; ++i) lines[i] = VecAt(square + i * kPanelLines);
  if (t.turned) {
    TransposeRows(lines);
    std::swap(rows, columns);
  }
  const auto mask = static_cast<__mmask16>(columns >= 16 ? 0xffff : (1u << columns) - 1);
  for (int64_t i = 0; i < std::min<int64_t>(rows, 16); ++i, to += t.step) {
    __m512 sums = reinterpret_cast<__m512>(lines[i]);
    if (t.add) sums = _mm512_add_ps(sums, _mm512_maskz_loadu_ps(mask, to));
    _mm512_mask_storeu_ps(to, mask, sums);
  }
}

SLUICE_AMX void WriteBlock(const float* block, const Target& t) {
  for (int64_t i = 0; i < t.rows; i += 16) {
    for (int64_t j = 0; j < t.columns; j += 16) {
      float* to = t.turned ? t.to + j * t.step + i : t.to + i * t.step + j;
      WriteSquare(block + i * kPanelLines + j, t.rows - i, t.columns - j, t, to);
    }
  }
}

// The product C = left * right, or C^T if `turned`. `turned` is chosen such that the lines of the
// streamed operand are contiguous. The other operand is stationary: it is packed once per part of
// the product.
struct Product {
  Lines stationary, streamed;
  bool turned;
  float* c;
  int64_t c_step;
  bool add;

  // Returns the element of C for a line of each operand.
  float* At(int64_t stationary_line, int64_t streamed_line) const {
    const bool rows_are_streamed = streamed.is_left != turned;
    const int64_t row = rows_are_streamed ? streamed_line : stationary_line;
    const int64_t column = rows_are_streamed ? stationary_line : streamed_line;
    return c + row * c_step + column;
  }
};

// Multiplies by the library, one segment of the depth after the other.
SLUICE_AMX void MultiplyByLibrary(const Lines& stationary, const Lines& streamed, const Product& p,
                                  float* to) {
  const bool rows_are_streamed = streamed.is_left != p.turned;
  const Lines& rows = rows_are_streamed ? streamed : stationary;
  const Lines& columns = rows_are_streamed ? stationary : streamed;
  const int64_t of_segment = StepsOf(rows.segment_depth);
  bool add = p.add;
  for (int64_t step = 0; step < rows.steps;) {
    const int64_t at = (rows.first_step + step) % of_segment;
    const int64_t count = std::min(rows.steps - step, of_segment - at);
    const int64_t depth = std::min(count * kStepDepth, rows.segment_depth - at * kStepDepth);
    LibraryGemm(rows.count, columns.count, depth, {rows.At(step), rows.line_step, rows.depth_step},
                {columns.At(step), columns.depth_step, columns.line_step}, to, p.c_step,
                add ? GemmInto::kAdd : GemmInto::kReplace);
    add = true;
    step += count;
  }
  SetUpTiles();  // because the library may have used the tiles
}

// Returns whether sums over the steps of products of numbers up to these magnitudes cannot
// overflow.
bool StaysFinite(float a, float b, int64_t steps) {
  constexpr double kLarge = 1e38;
  return a < kLarge && b < kLarge &&
         static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(steps * kStepDepth) <
             kLarge;
}

// The sums of a block of C. They stay in tiles until Write is called.
class Block {
 public:
  SLUICE_AMX Block(const Product& p, AmxScratch& scratch, int64_t stationary_line,
                   int64_t streamed_line)
      : scratch_(scratch) {
    const Lines stationary = p.stationary.From(stationary_line, kPanelLines);
    const Lines streamed = p.streamed.From(streamed_line, kPanelLines);
    const Lines& left = streamed.is_left ? streamed : stationary;
    const Lines& right = streamed.is_left ? stationary : streamed;
    target_ = {
        p.At(stationary_line, streamed_line), p.c_step, left.count, right.count, p.turned, p.add};
    if (target_.is_whole() && p.add) {
      LoadSums(target_.to, p.c_step);
    } else {
      ZeroSums();
    }
  }
  SLUICE_AMX void Write() {
    if (target_.is_whole()) return StoreSums(target_.to, target_.step);
    StoreSums(scratch_.block, kPanelLines);
    WriteBlock(scratch_.block, target_);
  }

 private:
  AmxScratch& scratch_;
  Target target_;
};

// Returns how many units of the next streamed panel are packed with each group of products if the
// stationary operand has `panels` panels.
int64_t UnitsAGroup(int64_t panels) { return (kUnits + 6 * panels - 1) / (6 * panels); }

// The packed stationary operand. Its panels are `step` bytes apart.
struct Panels {
  const char* data;
  int64_t step;
  float largest;  // the largest magnitude
};

// Multiplies each panel of the streamed operand with all panels of the stationary one.
SLUICE_AMX void StreamPanels(const Product& p, const Panels& panels, AmxScratch& scratch) {
  const Lines &stationary = p.stationary, &streamed = p.streamed;
  const int64_t steps = stationary.steps;
  const int64_t units = UnitsAGroup((stationary.count + kPanelLines - 1) / kPanelLines);
  PanelPacker packer;
  packer.Start(streamed.From(0, kPanelLines), scratch.streamed[0]);
  for (int64_t j = 0; j < streamed.count; j += kPanelLines) {
    const Lines panel = streamed.From(j, kPanelLines);
    packer.Finish();
    const bool is_finite = StaysFinite(panels.largest, packer.TakeMost(), steps);
    const char* packed = scratch.streamed[j / kPanelLines % 2];
    if (j + kPanelLines < streamed.count) {
      packer.Start(streamed.From(j + kPanelLines, kPanelLines),
                   scratch.streamed[(j / kPanelLines + 1) % 2]);
    }
    if (!is_finite) {
      MultiplyByLibrary(stationary, panel, p, p.At(0, j));
      continue;
    }
    const char* other = panels.data;
    for (int64_t i = 0; i < stationary.count; i += kPanelLines, other += panels.step) {
      Block block(p, scratch, i, j);
      MultiplyPanels(streamed.is_left ? packed : other, streamed.is_left ? other : packed, steps,
                     scratch.unused_square, packer, units);
      block.Write();
    }
  }
}

// Multiplies with a single stationary panel. A packed streamed panel would be used only once, so
// this packs step by step and keeps the packed data in the first-level cache.
SLUICE_AMX void StreamSteps(const Product& p, const Panels& panel, AmxScratch& scratch) {
  const Lines& streamed = p.streamed;
  const int64_t steps = streamed.steps, units = UnitsAGroup(1);
  const int64_t last = (streamed.count + kPanelLines - 1) / kPanelLines * steps - 1;
  PanelPacker packer;
  const auto start = [&](int64_t i) SLUICE_AMX {
    packer.Start(streamed.From(i / steps * kPanelLines, kPanelLines).FromStep(i % steps, 1),
                 scratch.streamed[i % 2]);
  };
  start(0);
  int64_t i = 0;
  for (int64_t j = 0; j < streamed.count; j += kPanelLines) {
    Block block(p, scratch, 0, j);
    bool is_finite = true;
    const char* other = panel.data;
    for (int64_t step = 0; step < steps; ++step, ++i, other += kStepBytes) {
      packer.Finish();
      is_finite &= StaysFinite(panel.largest, packer.TakeMost(), steps);
      const char* packed = scratch.streamed[i % 2];
      if (i < last) start(i + 1);
      MultiplyPanels(streamed.is_left ? packed : other, streamed.is_left ? other : packed, 1,
                     scratch.unused_square, packer, units);
    }
    if (is_finite) {
      block.Write();
    } else {
      MultiplyByLibrary(p.stationary, streamed.From(j, kPanelLines), p, p.At(0, j));
    }
  }
}

SLUICE_AMX void MultiplyPart(const Product& p, AmxScratch& scratch) {
  const Lines& stationary = p.stationary;
  PanelPacker packer;
  char* to = scratch.stationary;
  for (int64_t i = 0; i < stationary.count; i += kPanelLines) {
    PackPanel(packer, stationary.From(i, kPanelLines), to);
    to += stationary.steps * kStepBytes;
  }
  const Panels panels{scratch.stationary, stationary.steps * kStepBytes, packer.TakeMost()};
  if (stationary.count <= kPanelLines) {
    StreamSteps(p, panels, scratch);
  } else {
    StreamPanels(p, panels, scratch);
  }
}

// Divides a product into parts whose stationary operand fits the scratch buffer. Calls
// `part(product of the part, its first stationary line, its first step)` for each.
template <typename F>
SLUICE_AMX void ForParts(const Product& whole, F part) {
  const int64_t steps = whole.stationary.steps;
  const int64_t parts = (steps + kStepsMost - 1) / kStepsMost;
  const int64_t of_part = (steps + parts - 1) / parts;
  const int64_t lines = kStationaryFloats / (of_part * kStepDepth) / kPanelLines * kPanelLines;
  for (int64_t i = 0; i < whole.stationary.count; i += lines) {
    for (int64_t step = 0; step < steps; step += of_part) {
      Product p = whole;
      p.stationary = p.stationary.From(i, lines).FromStep(step, of_part);
      p.streamed = p.streamed.FromStep(step, of_part);
      p.c = whole.At(i, 0);
      p.add = step > 0 || whole.add;
      part(p, i, step);
    }
  }
}

// Returns the number of bytes of the header of a packed operand. The header has the largest
// magnitude of each panel.
int64_t HeaderBytes(int64_t columns) {
  const int64_t panels = (columns + kPanelLines - 1) / kPanelLines;
  return (panels * static_cast<int64_t>(sizeof(uint32_t)) + 63) / 64 * 64;
}

float LargestOf(PackedMatrix b, int64_t first_column, int64_t columns) {
  // Compares the magnitudes as integers, which have the same order, with infinity and NaN last.
  uint32_t largest = 0;
  const auto* magnitudes = reinterpret_cast<const uint32_t*>(b.data);
  for (int64_t j = first_column; j < first_column + columns; j += kPanelLines) {
    largest = std::max(largest, magnitudes[j / kPanelLines]);
  }
  return std::bit_cast<float>(largest);
}

// Returns the time to pack an operand if no products run at the same time.
double PackingNs(const Lines& l) {
  return static_cast<double>(l.count * l.steps * kStepDepth) * (l.is_natural() ? 0.15 : 0.25);
}

Product ProductOf(bool streams_a, const Lines& of_a, const Lines& of_b) {
  Product p{streams_a ? of_b : of_a, streams_a ? of_a : of_b, false, nullptr, 0, false};
  if (p.streamed.is_natural()) return p;
  p.turned = true;
  p.streamed.is_left = !p.streamed.is_left;
  p.stationary.is_left = !p.stationary.is_left;
  return p;
}

double OverheadNs(const Product& p) {
  constexpr double kTurnNs = 0.1;
  return PackingNs(p.stationary) +
         (p.turned ? kTurnNs * static_cast<double>(p.stationary.count * p.streamed.count) : 0);
}

// Estimates the time of a product with the matrix unit, from measurements of one core. Partial
// blocks take as long as whole ones. It includes the time to split `packed_lines` lines into
// bfloat16 parts.
double SplitNs(int64_t m, int64_t n, int64_t k, int64_t packed_lines) {
  constexpr double kFlopsPerNs = 330, kNsPerElement = 0.1, kNsPerCall = 500;
  const auto whole = [](int64_t x) { return static_cast<double>((x + 31) / 32 * 32); };
  return 2.0 * whole(m) * whole(n) * whole(k) / kFlopsPerNs +
         static_cast<double>(packed_lines) * static_cast<double>(k) * kNsPerElement + kNsPerCall;
}

// Estimates the time of a product without the matrix unit.
double PlainNs(int64_t m, int64_t n, int64_t k) {
  constexpr double kFlopsPerNs = 180;
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) /
         kFlopsPerNs;
}

}  // namespace

bool HasAmx() {
  static const bool has = [] {
    if (!HasAvx512() || InstructionSetLimit() < InstructionSets::kAll) return false;
    constexpr uint32_t kBfloat16 = 1u << 22, kTile = 1u << 24;
    uint32_t a, b, c, features;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &features)) return false;
    if ((features & kBfloat16) == 0 || (features & kTile) == 0) return false;
    // A process must request permission to use tiles.
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return has;
}

bool SuitsAmx(int64_t m, int64_t n, int64_t k) {
  return HasAmx() && SplitNs(m, n, k, m + n) < PlainNs(m, n, k);
}

bool GainsByAmxPacking(int64_t m, int64_t n, int64_t k) {
  return HasAmx() && SplitNs(m, n, k, m) < PlainNs(m, n, k);
}

SLUICE_AMX void AmxGemm(int64_t m, int64_t n, int64_t k, MatrixViews<float> a, MatrixViews<float> b,
                        float* c, int64_t c_step, GemmInto into) {
  auto& scratch = ThreadScratch<AmxScratch>();
  const int64_t steps = StepsOf(k) * static_cast<int64_t>(a.data.size());
  const Lines of_a{a.data.data(), k, a.offset, a.row_step, a.column_step, m, 0, steps, true};
  const Lines of_b{b.data.data(), k, b.offset, b.column_step, b.row_step, n, 0, steps, false};
  Product whole = ProductOf(true, of_a, of_b);
  const Product other = ProductOf(false, of_a, of_b);
  if (OverheadNs(other) < OverheadNs(whole)) whole = other;
  whole.c = c;
  whole.c_step = c_step;
  whole.add = into == GemmInto::kAdd;
  SetUpTiles();
  ForParts(whole, [&](const Product& p, int64_t, int64_t) SLUICE_AMX { MultiplyPart(p, scratch); });
  _tile_release();
}

int64_t AmxPackedBytes(int64_t n, int64_t k) {
  if (!HasAmx()) return 0;
  const int64_t panels = (n + kPanelLines - 1) / kPanelLines;
  return HeaderBytes(n) + panels * StepsOf(k) * kStepBytes;
}

SLUICE_AMX void AmxPack(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end,
                        char* to) {
  const int64_t steps = StepsOf(k);
  const Lines lines{&b.data, k, 0, b.column_step, b.row_step, n, 0, steps, false};
  PanelPacker packer;
  for (int64_t i = begin; i < end; ++i) {
    PackPanel(packer, lines.From(i * kPanelLines, kPanelLines),
              to + HeaderBytes(n) + i * steps * kStepBytes);
    reinterpret_cast<uint32_t*>(to)[i] = std::bit_cast<uint32_t>(packer.TakeMost());
  }
}

SLUICE_AMX void AmxPackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b,
                              PackedMatrix packed, int64_t first_column, float* c, int64_t c_step,
                              GemmInto into) {
  auto& scratch = ThreadScratch<AmxScratch>();
  const int64_t k = packed.k, steps = StepsOf(k);
  const Lines of_a{&a.data, k, 0, a.row_step, a.column_step, m, 0, steps, true};
  const Lines of_b{&b.data, k, 0, b.column_step, b.row_step, n, 0, steps, false};
  const char* const first =
      packed.data + HeaderBytes(packed.n) + first_column / kPanelLines * steps * kStepBytes;
  const float largest = LargestOf(packed, first_column, n);
  SetUpTiles();
  ForParts({of_b, of_a, false, c, c_step, into == GemmInto::kAdd}, [&](const Product& p,
                                                                       int64_t column,
                                                                       int64_t step) SLUICE_AMX {
    const int64_t panel = column / kPanelLines * steps;
    StreamPanels(p, {first + (panel + step) * kStepBytes, steps * kStepBytes, largest}, scratch);
  });
  _tile_release();
}

}  // namespace sluice

#else

namespace sluice {

bool HasAmx() { return false; }
bool SuitsAmx(int64_t, int64_t, int64_t) { return false; }
void AmxGemm(int64_t, int64_t, int64_t, MatrixViews<float>, MatrixViews<float>, float*, int64_t,
             GemmInto) {}
bool GainsByAmxPacking(int64_t, int64_t, int64_t) { return false; }
int64_t AmxPackedBytes(int64_t, int64_t) { return 0; }
void AmxPack(int64_t, int64_t, MatrixView<float>, int64_t, int64_t, char*) {}
void AmxPackedGemm(int64_t, int64_t, MatrixView<float>, MatrixView<float>, PackedMatrix, int64_t,
                   float*, int64_t, GemmInto) {}

}  // namespace sluice

#endif
