// The part of FusedElementwise (fused_elementwise.h) that computes a group's result tile by tile.
#include <algorithm>

#include "executor/cpu/prefetch.h"
#include "executor/cpu/stream_out.h"
#include "executor/fusion/fused_elementwise.h"

namespace sluice {
namespace {

// Computes n elements from `begin` on. Operand `column` has one element per `row` of them.
void RunByRows(const ElementwiseLoops& loops, std::array<const char*, 2> from, int column,
               int64_t begin, int64_t n, int64_t row, char* to) {
  const auto in_size = static_cast<int64_t>(loops.in_size);
  const auto out_size = static_cast<int64_t>(loops.out_size);
  const auto loop = column == 0 ? loops.x_alone : loops.y_alone;
  const char* column_from = from[column] + begin / row * in_size;
  for (int64_t at = 0, end = row - begin % row; at < n; at = end, end += row) {
    const int64_t length = std::min(end, n) - at;
    if (loops.spreads) {
      loops.one(column_from, to + at * out_size, length);
    } else {
      const char* const other = from[1 - column] + at * in_size;
      const char* const x = column == 0 ? column_from : other;
      const char* const y = column == 0 ? other : column_from;
      loop(x, y, to + at * out_size, length);
    }
    column_from += in_size;
  }
}

}  // namespace

inline const char* FusedElementwise::Place::At(int64_t begin) const {
  return base + (repeated == 0 ? begin : begin % repeated) * step;
}

bool FusedElementwise::IsAlone(const FusedOperand& operand, const Shapes& shapes) const {
  return operand.member >= 0
             ? shapes.member_alone[operand.member]
             : shapes.input_alone[operand.input] || operand.broadcast == BroadcastKind::kColumn;
}

FusedElementwise::Place FusedElementwise::PlaceOf(const FusedOperand& operand, size_t size,
                                                  const TileCall& call,
                                                  const char* registers) const {
  const bool is_alone = IsAlone(operand, call.shapes);
  if (operand.member >= 0) {
    if (is_alone) return {call.alone[operand.member].bytes, 0, 0};
    return {registers + ops_[operand.member].to * kRegisterBytes, 0, 0};
  }
  const char* const base = call.inputs[operand.input];
  if (is_alone) return {base, 0, 0};
  const bool is_row = operand.broadcast == BroadcastKind::kRow;
  return {base, static_cast<int64_t>(size), is_row ? call.shapes.repeated[operand.input] : 0};
}

size_t FusedElementwise::FindSteps(const TileCall& call, char* registers, TileStep* steps) const {
  size_t count = 0;
  for (size_t m = 0; m < ops_.size(); ++m) {
    if (call.shapes.member_alone[m]) continue;
    const Op& op = ops_[m];
    TileStep& step = steps[count++];
    step.op = &op;
    step.two = nullptr;
    step.to = registers + op.to * kRegisterBytes;
    const size_t size = op.loops != nullptr ? op.loops->in_size : 0;
    step.x = PlaceOf(op.operands[0], size, call, registers);
    if (op.loops == nullptr || op.loops->one != nullptr) continue;
    step.y = PlaceOf(op.operands[1], size, call, registers);
    if (op.column >= 0 || op.num_operands > 2) continue;
    step.two = IsAlone(op.operands[0], call.shapes)   ? op.loops->x_alone
               : IsAlone(op.operands[1], call.shapes) ? op.loops->y_alone
                                                      : op.loops->both;
  }
  return count;
}

FusedElementwise::Sequence FusedElementwise::SequenceOf(const char* base, size_t size,
                                                        const TileCall& call, size_t num_steps) {
  const auto element = static_cast<int64_t>(size), steps = static_cast<int64_t>(num_steps);
  const int64_t lines = call.shapes.tile * element / kLineBytes;
  return {base, element, lines, (lines + steps - 1) / steps};
}

size_t FusedElementwise::FindReads(const TileCall& call, size_t num_steps, Sequence* reads) const {
  size_t count = 0;
  for (int i = 0; i < num_inputs_; ++i) {
    if (call.shapes.input_alone[i] || broadcasts_[i] != BroadcastKind::kWhole) continue;
    reads[count++] = SequenceOf(call.inputs[i], in_size_[i], call, num_steps);
  }
  return count;
}

// While a tile is computed from registers, no other memory is read, so the processor cannot predict
// the reads of the next tile. Inlined, because g++ drops calls of a function that only prefetches.
SLUICE_INLINE_IN_CLONES void FusedElementwise::PrefetchTile(const Tiles& tiles, size_t step,
                                                            int64_t next) {
  const auto prefetch_lines = [&](const Sequence& sequence, auto prefetch) {
    const int64_t first = static_cast<int64_t>(step) * sequence.lines_per_step;
    const int64_t last = std::min(first + sequence.lines_per_step, sequence.lines);
    const int64_t begin = next * sequence.size;
    for (int64_t line = first; line < last; ++line) {
      prefetch(sequence.base, begin + line * kLineBytes);
    }
  };
  for (const Sequence& sequence : tiles.reads) prefetch_lines(sequence, Prefetch<false, char>);
  prefetch_lines(tiles.write, Prefetch<true, char>);
}

void FusedElementwise::RunStep(const TileCall& call, const Tiles& tiles, const TileStep& step,
                               int64_t begin, int64_t n, char* to) const {
  const Op& op = *step.op;
  const char* const x = step.x.At(begin);
  if (op.loops == nullptr) {
    rows_->MakeRows(x, to, n / call.shapes.row, call.shapes.row);
  } else if (op.column >= 0) {
    const char* const y = op.loops->one == nullptr ? step.y.At(begin) : nullptr;
    RunByRows(*op.loops, {x, y}, op.column, begin, n, call.shapes.row, to);
  } else if (op.loops->one != nullptr) {
    op.loops->one(x, to, n);
  } else {  // the result may be in place of a later operand
    op.loops->both(x, step.y.At(begin), step.to, n);
    for (int k = 2; k < op.num_operands; ++k) {
      const Place place = PlaceOf(op.operands[k], op.loops->in_size, call, tiles.registers);
      op.loops->both(step.to, place.At(begin), k + 1 == op.num_operands ? to : step.to, n);
    }
  }
}

void FusedElementwise::RunTile(const TileCall& call, const Tiles& tiles, int64_t begin,
                               int64_t n) const {
  const int64_t out_begin = is_reduction_ ? begin / call.shapes.row : begin;
  char* const result = call.output + out_begin * static_cast<int64_t>(out_size_);
  const size_t last = tiles.steps.size() - 1;
  for (size_t i = 0; i <= last; ++i) {
    const TileStep& step = tiles.steps[i];
    char* const to = i == last && !call.shapes.streams ? result : step.to;
    if (step.two != nullptr) {
      step.two(step.x.At(begin), step.y.At(begin), to, n);
    } else {
      RunStep(call, tiles, step, begin, n, to);
    }
    if (call.shapes.prefetches) PrefetchTile(tiles, i, begin + n);
  }
  if (call.shapes.streams) {
    StreamOut(result, tiles.steps[last].to, static_cast<size_t>(n) * out_size_);
  }
}

void FusedElementwise::RunTiles(const TileCall& call, int64_t first, int64_t last) const {
  // Registers begin at another offset in their page than tiles of tensors do. A chain of eight
  // nodes then takes a tenth less time.
  constexpr size_t kPage = 4096, kInPage = 1024;
  alignas(kPage) char buffer[kInPage + kMostRegisters * kRegisterBytes];
  char* const registers = buffer + kInPage;
  std::array<TileStep, kMostMembers> steps;
  std::array<Sequence, kMostInputs> reads;
  const size_t num_steps = FindSteps(call, registers, steps.data());
  Tiles tiles{registers, {steps.data(), num_steps}, {}, {}};
  if (call.shapes.prefetches) {
    tiles.reads = {reads.data(), FindReads(call, num_steps, reads.data())};
    if (!is_reduction_) tiles.write = SequenceOf(call.output, out_size_, call, num_steps);
  }
  const int64_t tile = call.shapes.tile;
  for (int64_t begin = first * tile, end = std::min(last * tile, call.n); begin < end;
       begin += tile) {
    RunTile(call, tiles, begin, std::min(tile, end - begin));
  }
  if (call.shapes.streams) FinishStreaming();
}

}  // namespace sluice
