// How FusedElementwise computes a tile.
#include <algorithm>

#include "executor/kernel/prefetch.h"
#include "executor/plan/fused_elementwise.h"

namespace sluice {
namespace {

// The elements from `begin` on; operand `column`, which is whole, has one for `row` of them each.
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

// While a tile is computed nothing else is read, so that the processor foresees nothing. Inlined:
// g++ takes a function that only asks for memory for one without effect, and drops its calls.
SLUICE_INLINE_IN_CLONES void FusedElementwise::AskForTile(const TileCall& call, size_t step,
                                                          int64_t next) const {
  constexpr int64_t kLine = 64;
  const auto parts = static_cast<int64_t>(call.steps.size()), part = static_cast<int64_t>(step);
  const auto ask_for = [&](const char* base, size_t size, auto ask) {
    const int64_t begin = next * static_cast<int64_t>(size);
    const int64_t lines = call.shapes.tile * static_cast<int64_t>(size) / kLine;
    for (int64_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line) {
      ask(base, begin + line * kLine);
    }
  };
  for (int i = 0; i < num_inputs_; ++i) {
    if (call.shapes.input_alone[i] || meets_[i] != Meets::kWhole) continue;
    ask_for(call.inputs[i], in_size_[i], Prefetch<false, char>);
  }
  if (!is_reduction_) ask_for(call.output, out_size_, Prefetch<true, char>);
}

inline const char* FusedElementwise::Place::At(int64_t begin, const char* registers) const {
  if (from >= 0) return registers + from * kRegisterBytes;
  return base + (repeated == 0 ? begin : begin % repeated) * step;
}

FusedElementwise::Place FusedElementwise::PlaceOf(const FusedOperand& operand, size_t size,
                                                  const char* const* inputs, const Shapes& shapes,
                                                  const Scalar* alone) const {
  if (operand.member >= 0) {
    if (shapes.member_alone[operand.member]) return {alone[operand.member].bytes, 0, 0, -1};
    return {nullptr, 0, 0, ops_[operand.member].to};
  }
  Place place{inputs[operand.input], 0, 0, -1};
  if (shapes.input_alone[operand.input] || operand.meets == Meets::kColumn) return place;
  place.step = static_cast<int64_t>(size);
  if (operand.meets == Meets::kRow) place.repeated = shapes.repeated[operand.input];
  return place;
}

size_t FusedElementwise::FindSteps(const char* const* inputs, const Shapes& shapes,
                                   const Scalar* alone, TileStep* steps) const {
  size_t count = 0;
  for (size_t m = 0; m < ops_.size(); ++m) {
    if (shapes.member_alone[m]) continue;
    const Op& op = ops_[m];
    TileStep& step = steps[count++];
    step.op = &op;
    step.two = nullptr;
    const size_t size = op.loops != nullptr ? op.loops->in_size : 0;
    step.x = PlaceOf(op.operands[0], size, inputs, shapes, alone);
    if (op.loops == nullptr || op.loops->one != nullptr) continue;
    step.y = PlaceOf(op.operands[1], size, inputs, shapes, alone);
    if (op.column >= 0 || op.num_operands > 2) continue;
    const auto is_alone = [](const Place& place) { return place.from < 0 && place.step == 0; };
    step.two = is_alone(step.x)   ? op.loops->x_alone
               : is_alone(step.y) ? op.loops->y_alone
                                  : op.loops->both;
  }
  return count;
}

void FusedElementwise::RunStep(const TileCall& call, const TileStep& step, int64_t begin, int64_t n,
                               char* registers, char* to) const {
  const Op& op = *step.op;
  const char* const x = step.x.At(begin, registers);
  if (op.loops == nullptr) {
    rows_->MakeRows(x, to, n / call.shapes.row, call.shapes.row);
  } else if (op.column >= 0) {
    const char* const y = op.loops->one == nullptr ? step.y.At(begin, registers) : nullptr;
    RunByRows(*op.loops, {x, y}, op.column, begin, n, call.shapes.row, to);
  } else if (op.loops->one != nullptr) {
    op.loops->one(x, to, n);
  } else {  // what the result lies over may be an operand that comes later
    char* const sum = registers + op.to * kRegisterBytes;
    op.loops->both(x, step.y.At(begin, registers), sum, n);
    for (int k = 2; k < op.num_operands; ++k) {
      const Place place =
          PlaceOf(op.operands[k], op.loops->in_size, call.inputs, call.shapes, call.alone);
      op.loops->both(sum, place.At(begin, registers), k + 1 == op.num_operands ? to : sum, n);
    }
  }
}

void FusedElementwise::RunTile(const TileCall& call, int64_t begin, int64_t n) const {
  alignas(64) char registers[kMostRegisters * kRegisterBytes];
  const int64_t out_begin = is_reduction_ ? begin / call.shapes.row : begin;
  char* const result = call.output + out_begin * static_cast<int64_t>(out_size_);
  for (size_t i = 0; i < call.steps.size(); ++i) {
    const TileStep& step = call.steps[i];
    char* const to = i + 1 == call.steps.size() ? result : registers + step.op->to * kRegisterBytes;
    if (step.two != nullptr) {
      step.two(step.x.At(begin, registers), step.y.At(begin, registers), to, n);
    } else {
      RunStep(call, step, begin, n, registers, to);
    }
    if (call.shapes.is_far) AskForTile(call, i, begin + n);
  }
}

}  // namespace sluice
