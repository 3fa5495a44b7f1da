#include "executor/plan/fused_elementwise.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "executor/device/thread_pool.h"
#include "executor/kernel/prefetch.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kRegisterBytes = 4096;
// A tile of each result that is alive, and of the inputs, stays in the first cache. Twice as much
// does not, unless they are few: what lies 4 KB apart shares its sets.
constexpr size_t kTileBytes = 2048;
constexpr int kFew = 4;
// Of a result: more than cores' caches keep.
constexpr size_t kOfCaches = 4 << 20;
constexpr int64_t kTileMultiple = 256;  // loops over half and bfloat16 go by such blocks
static_assert(kTileMultiple * 16 <= kRegisterBytes, "room for elements of 16 bytes");

// Sets bit k of a member's number where no later operand, of it or of other members, is what its
// operand k is.
std::vector<uint32_t> LastReads(const std::vector<FusedMember>& members) {
  std::vector<uint32_t> last(members.size(), 0);
  std::vector<bool> was_read(members.size(), false);
  std::array<bool, FusedElementwise::kMostInputs> input_was_read = {};
  for (size_t m = members.size(); m-- > 0;) {
    for (int k = members[m].num_operands; k-- > 0;) {
      const FusedOperand& operand = members[m].operands[k];
      if (operand.member >= 0) {
        if (!was_read[operand.member]) last[m] |= 1u << k;
        was_read[operand.member] = true;
      } else {
        if (!input_was_read[operand.input]) last[m] |= 1u << k;
        input_was_read[operand.input] = true;
      }
    }
  }
  return last;
}

// The register of each member's result, and how many there are. A result's register is free again
// once its last reader has written its own: loops need not work in place.
int AssignRegisters(const std::vector<FusedMember>& members, const std::vector<uint32_t>& last,
                    std::vector<int>* registers) {
  std::vector<bool> taken;
  registers->assign(members.size(), 0);
  for (size_t m = 0; m < members.size(); ++m) {
    size_t to = 0;
    while (to < taken.size() && taken[to]) ++to;
    if (to == taken.size()) taken.push_back(false);
    taken[to] = true;
    (*registers)[m] = static_cast<int>(to);
    for (int k = 0; k < members[m].num_operands; ++k) {
      const int from = members[m].operands[k].member;
      if (from >= 0 && (last[m] >> k & 1) != 0) taken[(*registers)[from]] = false;
    }
  }
  return static_cast<int>(taken.size());
}

void RunLoop(const ElementwiseLoops& loops, const char* x, bool x_alone, const char* y,
             bool y_alone, char* z, int64_t n) {
  if (loops.one != nullptr) {
    loops.one(x, z, n);
  } else if (x_alone == y_alone) {
    loops.both(x, y, z, n);
  } else if (x_alone) {
    loops.x_alone(x, y, z, n);
  } else {
    loops.y_alone(x, y, z, n);
  }
}

}  // namespace

bool FusedElementwise::Fits(const std::vector<FusedMember>& members) {
  std::vector<int> registers;
  return members.size() <= kMostMembers &&
         AssignRegisters(members, LastReads(members), &registers) <= kMostRegisters;
}

FusedElementwise::FusedElementwise(std::vector<FusedMember> members, int num_inputs)
    : members_(std::move(members)),
      types_(members_.size()),
      num_inputs_(num_inputs),
      row_size_(static_cast<size_t>(num_inputs), 0),
      in_size_(static_cast<size_t>(num_inputs), 0) {
  std::vector<int> registers;
  const std::vector<uint32_t> last = LastReads(members_);
  const int results = AssignRegisters(members_, last, &registers);
  size_t largest = 1;
  for (size_t m = 0; m < members_.size(); ++m) {
    const FusedMember& member = members_[m];
    const ElementwiseLoops& loops = member.kernel->loops();
    ops_.push_back({&loops, member.operands, member.num_operands, registers[m], last[m]});
    largest = std::max({largest, loops.in_size, loops.out_size});
    cost_ += loops.cost;
    for (const FusedOperand& operand : member.operands) {
      if (operand.input >= 0) in_size_[operand.input] = loops.in_size;
      if (!operand.is_row) continue;
      row_size_[operand.input] = loops.in_size;
      has_rows_ = true;
    }
    types_[m] = member.output_type;
    PlanNode& node = nodes_.emplace_back();
    node.kernel = member.kernel;
    node.node = member.node;
    node.output_types = &types_[m];
    node.num_inputs = static_cast<uint16_t>(member.num_operands);
    node.num_outputs = 1;
  }
  const size_t bytes = results + num_inputs <= kFew ? kRegisterBytes : kTileBytes;
  const auto fitting = static_cast<int64_t>(bytes / largest) / kTileMultiple * kTileMultiple;
  tile_ = std::max(fitting, kTileMultiple);
}

const Node* FusedElementwise::NodeOf(const absl::Status& error) const {
  const absl::optional<absl::Cord> payload = error.GetPayload(kMemberPayload);
  int member = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &member)) return nullptr;
  return members_[member].node;
}

bool FusedElementwise::FindShapes(const FusedCall& call, Shapes* shapes) const {
  for (int i = 0; i < num_inputs_; ++i) {
    const TensorShape& shape = call.inputs[i]->tensor.shape();
    shapes->input_alone[i] = shape.IsScalar();
    if (row_size_[i] != 0) {
      if (!shape.IsVector() || (shapes->row != 0 && shape.dim(0) != shapes->row)) return false;
      shapes->row = shape.dim(0);
      continue;
    }
    if (shape.IsScalar()) continue;
    if (shapes->full == nullptr) {
      shapes->full = &shape;
    } else if (*shapes->full != shape) {
      return false;
    }
  }
  if (shapes->full == nullptr) return !has_rows_;
  if (has_rows_) {
    const int rank = shapes->full->rank();
    if (rank < 2 || shapes->full->dim(rank - 1) != shapes->row) return false;
  }
  for (size_t m = 0; m < ops_.size(); ++m) {
    const Op& op = ops_[m];
    bool alone[2] = {true, true};
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& from = op.operands[k];
      alone[k] =
          from.input >= 0 ? shapes->input_alone[from.input] : shapes->member_alone[from.member];
    }
    if (op.num_operands == 2 && alone[0] != alone[1]) {
      const bool meets_row = op.operands[0].is_row || op.operands[1].is_row;
      if (meets_row || op.loops->x_alone == nullptr) return false;
    }
    shapes->member_alone[m] = alone[0] && alone[op.num_operands - 1];
  }
  return true;
}

absl::Status FusedElementwise::Allocate(const FusedCall& call, const Shapes& shapes,
                                        Tensor** output) const {
  const TensorShape shape = shapes.full != nullptr ? *shapes.full : TensorShape();
  absl::InlinedVector<int, kMostInputs> candidates;
  for (int i = 0; i < num_inputs_; ++i) {
    if (row_size_[i] != 0) continue;
    if (shapes.full == nullptr || !shapes.input_alone[i]) candidates.push_back(i);
  }
  KernelContext context(call.step, *members_.back().node, call.inputs, num_inputs_, call.movable,
                        call.output, 1, &types_.back());
  return context.ForwardOrAllocate(candidates, 0, shape, output);
}

absl::StatusOr<Tensor> FusedElementwise::RepeatRows(const FusedCall& call, const Shapes& shapes,
                                                    const char** inputs) const {
  if (!has_rows_) return Tensor();
  size_t bytes = 0;
  for (size_t size : row_size_) bytes += size * static_cast<size_t>(shapes.row + tile_);
  SLUICE_ASSIGN_OR_RETURN(
      Tensor repeated,
      Tensor::Allocate(*call.step.allocator, DT_UINT8, TensorShape({static_cast<int64_t>(bytes)})));
  char* to = static_cast<char*>(repeated.raw());
  for (int i = 0; i < num_inputs_; ++i) {
    if (row_size_[i] == 0) continue;
    const size_t all = row_size_[i] * static_cast<size_t>(shapes.row + tile_);
    size_t done = row_size_[i] * static_cast<size_t>(shapes.row);
    std::memcpy(to, inputs[i], done);
    inputs[i] = to;
    while (done < all) {
      const size_t more = std::min(done, all - done);
      std::memcpy(to + done, to, more);
      done += more;
    }
    to += all;
  }
  return repeated;
}

void FusedElementwise::RunAlone(const char* const* inputs, const bool* which,
                                Scalar* results) const {
  for (size_t m = 0; m < ops_.size(); ++m) {
    if (which != nullptr && !which[m]) continue;
    const Op& op = ops_[m];
    const char* from[2] = {nullptr, nullptr};
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& operand = op.operands[k];
      from[k] = operand.input >= 0 ? inputs[operand.input] : results[operand.member].bytes;
    }
    RunLoop(*op.loops, from[0], true, from[1], true, results[m].bytes, 1);
  }
}

// While a tile is computed nothing else is read, so that the processor foresees nothing. Inlined:
// g++ takes a function that only asks for memory for one without effect, and drops its calls.
SLUICE_INLINE_IN_CLONES void FusedElementwise::AskForTile(const char* const* inputs,
                                                          const Shapes& shapes, size_t member,
                                                          int64_t next, const char* output) const {
  constexpr int64_t kLine = 64;
  const auto parts = static_cast<int64_t>(ops_.size()), part = static_cast<int64_t>(member);
  const auto ask_for = [&](const char* base, size_t size, auto ask) {
    const int64_t begin = next * static_cast<int64_t>(size);
    const int64_t lines = tile_ * static_cast<int64_t>(size) / kLine;
    for (int64_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line) {
      ask(base, begin + line * kLine);
    }
  };
  for (int i = 0; i < num_inputs_; ++i) {
    if (shapes.input_alone[i] || row_size_[i] != 0) continue;
    ask_for(inputs[i], in_size_[i], Prefetch<false, char>);
  }
  ask_for(output, ops_.back().loops->out_size, Prefetch<true, char>);
}

void FusedElementwise::RunTile(const char* const* inputs, const Shapes& shapes, const Scalar* alone,
                               int64_t begin, int64_t n, char* output) const {
  alignas(64) char registers[kMostRegisters][kRegisterBytes];
  const size_t last = ops_.size() - 1;
  for (size_t m = 0; m <= last; ++m) {
    if (shapes.member_alone[m]) continue;
    const Op& op = ops_[m];
    const char* from[2] = {nullptr, nullptr};
    bool is_alone[2] = {false, false};
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& operand = op.operands[k];
      if (operand.input >= 0) {
        is_alone[k] = shapes.input_alone[operand.input];
        const int64_t at = is_alone[k] ? 0 : operand.is_row ? begin % shapes.row : begin;
        from[k] = inputs[operand.input] + at * op.loops->in_size;
      } else {
        is_alone[k] = shapes.member_alone[operand.member];
        from[k] = is_alone[k] ? alone[operand.member].bytes : registers[ops_[operand.member].to];
      }
    }
    char* to = m == last ? output + begin * op.loops->out_size : registers[op.to];
    RunLoop(*op.loops, from[0], is_alone[0], from[1], is_alone[1], to, n);
    if (shapes.is_far) AskForTile(inputs, shapes, m, begin + n, output);
  }
}

absl::Status FusedElementwise::Run(const FusedCall& call) const {
  Shapes shapes;
  if (!FindShapes(call, &shapes)) {
    return RunOneByOne(
        call, [&](const PlanNode& node, Value* const* inputs, uint64_t movable, Value* output) {
          KernelContext context(call.step, *node.node, inputs, node.num_inputs, movable, output, 1,
                                node.output_types);
          return node.kernel->Compute(context);
        });
  }
  std::array<const char*, kMostInputs> inputs;
  for (int i = 0; i < num_inputs_; ++i) {
    inputs[i] = static_cast<const char*>(call.inputs[i]->tensor.raw());
  }
  Tensor* output;
  const bool scalars = shapes.full == nullptr;
  const int64_t n = scalars ? 1 : shapes.full->num_elements();
  SLUICE_RETURN_IF_ERROR(Allocate(call, shapes, &output));
  if (n == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor rows, RepeatRows(call, shapes, inputs.data()));
  char* to = static_cast<char*>(output->raw());
  Scalar alone[kMostMembers];
  RunAlone(inputs.data(), scalars ? nullptr : shapes.member_alone.data(), alone);
  if (scalars) {
    std::memcpy(to, alone[ops_.size() - 1].bytes, ops_.back().loops->out_size);
    return absl::OkStatus();
  }
  shapes.is_far = output->bytes() > kOfCaches;
  const auto run_tiles = [&](int64_t first, int64_t last) {
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t begin = tile * tile_;
      RunTile(inputs.data(), shapes, alone, begin, std::min(tile_, n - begin), to);
    }
  };
  const int64_t tiles = (n + tile_ - 1) / tile_;
  if (tiles <= 1 || call.step.intra_op == nullptr) {
    run_tiles(0, tiles);
  } else {
    call.step.intra_op->ParallelFor(tiles, cost_ * static_cast<double>(tile_), run_tiles);
  }
  return absl::OkStatus();
}

absl::Status FusedElementwise::RunOneByOne(const FusedCall& call, RunMember run) const {
  Value results[kMostRegisters];
  const size_t last = ops_.size() - 1;
  for (size_t m = 0; m <= last; ++m) {
    const Op& op = ops_[m];
    Value* inputs[2] = {nullptr, nullptr};
    uint64_t movable = 0;
    // What a member reads twice is nobody's to take over.
    const bool is_same = op.num_operands == 2 && op.operands[0] == op.operands[1];
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& operand = op.operands[k];
      uint64_t may_take = is_same ? 0 : op.last_read >> k & 1;
      if (operand.input >= 0) {
        inputs[k] = call.inputs[operand.input];
        may_take &= call.movable >> operand.input;
      } else {
        inputs[k] = &results[ops_[operand.member].to];
      }
      movable |= may_take << k;
    }
    absl::Status status =
        run(nodes_[m], inputs, movable, m == last ? call.output : &results[op.to]);
    if (!status.ok()) {
      status.SetPayload(kMemberPayload, absl::Cord(StrCat(m)));
      return status;
    }
    for (int k = 0; k < op.num_operands; ++k) {
      if (op.operands[k].member >= 0 && (op.last_read >> k & 1) != 0) inputs[k]->tensor.Clear();
    }
  }
  return absl::OkStatus();
}

}  // namespace sluice
