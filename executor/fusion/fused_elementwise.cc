#include "executor/fusion/fused_elementwise.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "executor/cpu/stream_out.h"
#include "graph/status.h"

namespace sluice {
namespace {

// With this size, the tiles of all live results and inputs stay in the first-level cache. Tiles of
// twice the size do so only if there are few, because addresses 4 KB apart share cache sets.
constexpr size_t kTileBytes = 2048;
constexpr int kFew = 4;
// Larger results do not stay in a core's caches.
constexpr size_t kCacheBytes = 4 << 20;
constexpr int64_t kTileMultiple = 256;  // loops over half and bfloat16 work in such blocks
static_assert(kTileMultiple * 16 <= FusedElementwise::kRegisterBytes,
              "a register holds elements of 16 bytes");

// By member: bit k is set if no later operand, of this or other members, equals operand k.
std::vector<uint32_t> LastReads(const std::vector<FusedMember>& members) {
  std::vector<uint32_t> last(members.size(), 0);
  std::vector<bool> was_read(members.size(), false);
  std::array<bool, FusedElementwise::kMostInputs> input_was_read = {};
  for (size_t m = members.size(); m-- > 0;) {
    for (int k = static_cast<int>(members[m].operands.size()); k-- > 0;) {
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

// Sets the register of each member's result, and returns the number of registers. A result's
// register is free after its last reader has written its own result, because loops need not work in
// place.
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
    for (size_t k = 0; k < members[m].operands.size(); ++k) {
      const int from = members[m].operands[k].member;
      if (from >= 0 && (last[m] >> k & 1) != 0) taken[(*registers)[from]] = false;
    }
  }
  return static_cast<int>(taken.size());
}

// The number of elements of `part` if it has only the last dimensions of `full`, otherwise 0.
int64_t RepeatedElements(const TensorShape& part, const TensorShape& full) {
  int64_t elements = 1;
  int left = part.rank();
  for (int d = full.rank(); left > 0 && d > 0 && part.dim(left - 1) == full.dim(d - 1); --left) {
    elements *= full.dim(--d);
  }
  while (left > 0 && part.dim(left - 1) == 1) --left;
  return left == 0 ? elements : 0;
}

}  // namespace

bool HasOneElementARow(absl::Span<const int64_t> part, absl::Span<const int64_t> full) {
  const size_t last = full.size() - 1;
  return part.size() == full.size() && part[last] == 1 && part.first(last) == full.first(last);
}

bool FusedElementwise::Fits(const std::vector<FusedMember>& members) {
  std::vector<int> registers;
  return members.size() <= kMostMembers &&
         AssignRegisters(members, LastReads(members), &registers) <= kMostRegisters;
}

FusedElementwise::FusedElementwise(std::vector<FusedMember> members, int num_inputs)
    : members_(std::move(members)),
      types_(members_.size()),
      num_inputs_(num_inputs),
      rows_(members_.back().rows),
      broadcasts_(static_cast<size_t>(num_inputs), BroadcastKind::kWhole),
      in_size_(static_cast<size_t>(num_inputs), 0),
      out_size_(DataTypeSize(members_.back().output_type)),
      is_reduction_(rows_ != nullptr && rows_->IsReduction()) {
  std::vector<int> registers;
  const std::vector<uint32_t> last = LastReads(members_);
  const int results = AssignRegisters(members_, last, &registers);
  for (size_t m = 0; m < members_.size(); ++m) {
    const FusedMember& member = members_[m];
    Op& op = ops_.emplace_back(Op{.loops = member.loops,
                                  .operands = member.operands.data(),
                                  .num_operands = static_cast<int>(member.operands.size()),
                                  .column = -1,
                                  .to = registers[m],
                                  .last_read = last[m]});
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& operand = op.operands[k];
      if (operand.input < 0) continue;
      if (operand.broadcast == BroadcastKind::kColumn) op.column = k;
      broadcasts_[operand.input] = operand.broadcast;
      if (member.loops != nullptr) in_size_[operand.input] = member.loops->in_size;
      has_parts_ |=
          operand.broadcast == BroadcastKind::kRow || operand.broadcast == BroadcastKind::kColumn;
    }
    if (member.loops != nullptr) {
      largest_ = std::max({largest_, member.loops->in_size, member.loops->out_size});
      cost_ += member.loops->cost;
      if (member.loops->spreads) spreads_.push_back(&member.node->output_shape(0));
    } else {
      cost_ += rows_->CostOfRows();
    }
    types_[m] = member.output_type;
    PlanNode& node = nodes_.emplace_back();
    node.kernel = member.kernel;
    node.node = member.node;
    node.output_types = &types_[m];
    node.num_inputs = static_cast<uint16_t>(member.operands.size());
    node.num_outputs = 1;
  }
  const size_t bytes = results + num_inputs <= kFew ? kRegisterBytes : kTileBytes;
  const auto fitting = static_cast<int64_t>(bytes / largest_) / kTileMultiple * kTileMultiple;
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
    shapes->input_alone[i] = broadcasts_[i] == BroadcastKind::kWhole && shape.IsScalar();
    if (broadcasts_[i] != BroadcastKind::kWhole || shape.IsScalar()) continue;
    if (shapes->full == nullptr) {
      shapes->full = &shape;
    } else if (*shapes->full != shape) {
      return false;
    }
  }
  if (has_parts_ && !FindParts(call, shapes)) return false;
  if (shapes->full == nullptr) return rows_ == nullptr;
  shapes->tile = tile_;
  if (has_parts_ || rows_ != nullptr) shapes->row = shapes->full->dim(shapes->full->rank() - 1);
  if (rows_ != nullptr) {
    const bool fits = shapes->row > 0 && shapes->row <= kMostInARow &&
                      static_cast<size_t>(shapes->row) * largest_ <= kRegisterBytes;
    if (!fits) return false;
    shapes->tile = std::max<int64_t>(tile_ / shapes->row, 1) * shapes->row;
  }
  return FindMembers(shapes);
}

// Sets the shape for inputs that are all rows, columns or scalars.
bool FusedElementwise::FindShapeOfParts(const FusedCall& call, Shapes* shapes) const {
  const auto shape_of = [&](BroadcastKind broadcast) -> const TensorShape* {
    const auto input = std::find(broadcasts_.begin(), broadcasts_.end(), broadcast);
    return input == broadcasts_.end() ? nullptr
                                      : &call.inputs[input - broadcasts_.begin()]->tensor.shape();
  };
  const TensorShape *const row = shape_of(BroadcastKind::kRow), *const column = shape_of(
                                                                    BroadcastKind::kColumn);
  if (column == nullptr || column->rank() == 0) return false;
  for (int i = 0; i + 1 < column->rank(); ++i) shapes->of_parts.AddDim(column->dim(i));
  if (!spreads_.empty()) {
    shapes->of_parts.AddDim(spreads_[0]->dim(spreads_[0]->rank() - 1));
  } else if (row != nullptr && row->rank() > 0) {
    shapes->of_parts.AddDim(row->dim(row->rank() - 1));
  } else {
    return false;
  }
  shapes->full = &shapes->of_parts;
  return true;
}

bool FusedElementwise::FindParts(const FusedCall& call, Shapes* shapes) const {
  if (shapes->full == nullptr && !FindShapeOfParts(call, shapes)) return false;
  const TensorShape& full = *shapes->full;
  for (const PartialShape* const spread : spreads_) {
    if (spread->dims() != full.dims()) return false;
  }
  for (int i = 0; i < num_inputs_; ++i) {
    const TensorShape& shape = call.inputs[i]->tensor.shape();
    if (broadcasts_[i] == BroadcastKind::kRow) {
      shapes->repeated[i] = RepeatedElements(shape, full);
      if (shapes->repeated[i] == 0 && full.num_elements() > 0) return false;
    } else if (broadcasts_[i] == BroadcastKind::kColumn &&
               !HasOneElementARow(shape.dims(), full.dims())) {
      return false;
    }
  }
  return true;
}

// Finds the members whose results are scalars.
bool FusedElementwise::FindMembers(Shapes* shapes) const {
  for (size_t m = 0; m < ops_.size(); ++m) {
    const Op& op = ops_[m];
    if (op.loops == nullptr) {
      shapes->member_alone[m] = false;
      continue;
    }
    int num_alone = 0;
    bool has_part = false;
    for (int k = 0; k < op.num_operands; ++k) {
      const FusedOperand& from = op.operands[k];
      num_alone +=
          from.input >= 0 ? shapes->input_alone[from.input] : shapes->member_alone[from.member];
      has_part |= from.broadcast != BroadcastKind::kWhole;
    }
    shapes->member_alone[m] = num_alone == op.num_operands;
    if (num_alone == 0 || num_alone == op.num_operands) continue;
    if (has_part || op.loops->x_alone == nullptr) return false;
  }
  return true;
}

absl::StatusOr<Tensor*> FusedElementwise::Allocate(const FusedCall& call,
                                                   const Shapes& shapes) const {
  const TensorShape full = shapes.full != nullptr ? *shapes.full : TensorShape();
  absl::InlinedVector<int, kMostInputs> candidates;
  for (int i = 0; i < num_inputs_; ++i) {
    if (broadcasts_[i] == BroadcastKind::kRow || broadcasts_[i] == BroadcastKind::kAxes) continue;
    if (shapes.full == nullptr || !shapes.input_alone[i]) candidates.push_back(i);
  }
  KernelContext context(call.step, *members_.back().node, call.inputs, num_inputs_, call.movable,
                        call.output, 1, &types_.back());
  return context.ForwardOrAllocate(candidates, 0, rows_ ? rows_->ShapeOfRows(full) : full);
}

absl::StatusOr<Tensor> FusedElementwise::RepeatRows(const FusedCall& call, const Shapes& shapes,
                                                    const char** inputs) const {
  if (!has_parts_) return Tensor();
  // A row is repeated if a tile may go over its end. If its length is a multiple of the tile, none
  // does.
  const auto is_repeated = [&](int i) {
    return broadcasts_[i] == BroadcastKind::kRow && shapes.repeated[i] % shapes.tile != 0;
  };
  size_t bytes = 0;
  for (int i = 0; i < num_inputs_; ++i) {
    if (is_repeated(i)) bytes += in_size_[i] * (shapes.repeated[i] + shapes.tile);
  }
  if (bytes == 0) return Tensor();
  SLUICE_ASSIGN_OR_RETURN(
      Tensor repeated,
      Tensor::Allocate(*call.step.allocator, DT_UINT8, TensorShape({static_cast<int64_t>(bytes)})));
  char* to = static_cast<char*>(repeated.raw());
  for (int i = 0; i < num_inputs_; ++i) {
    if (!is_repeated(i)) continue;
    const size_t all = in_size_[i] * static_cast<size_t>(shapes.repeated[i] + shapes.tile);
    size_t done = in_size_[i] * static_cast<size_t>(shapes.repeated[i]);
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
    const auto from = [&](int k) -> const char* {
      const FusedOperand& operand = op.operands[k];
      return operand.input >= 0 ? inputs[operand.input] : results[operand.member].bytes;
    };
    char* const to = results[m].bytes;
    if (op.loops->one != nullptr) {
      op.loops->one(from(0), to, 1);
      continue;
    }
    op.loops->ComputeScalars(from(0), from(1), to);
    for (int k = 2; k < op.num_operands; ++k) op.loops->ComputeScalars(to, from(k), to);
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
  const bool scalars = shapes.full == nullptr;
  const int64_t n = scalars ? 1 : shapes.full->num_elements();
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, Allocate(call, shapes));
  if (n == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor rows, RepeatRows(call, shapes, inputs.data()));
  char* to = static_cast<char*>(output->raw());
  Scalar alone[kMostMembers];
  RunAlone(inputs.data(), scalars ? nullptr : shapes.member_alone.data(), alone);
  if (scalars) {
    std::memcpy(to, alone[ops_.size() - 1].bytes, out_size_);
    return absl::OkStatus();
  }
  const bool is_over_input = std::count(inputs.begin(), inputs.begin() + num_inputs_, to) > 0;
  shapes.streams = !is_reduction_ && !is_over_input &&
                   IsWorthStreaming(output->bytes(), call.step.num_threads());
  // With streaming stores the processor predicts the reads of operands as well as prefetches would.
  shapes.prefetches =
      !shapes.streams && (is_reduction_ ? n * largest_ : output->bytes()) > kCacheBytes;
  const TileCall tiles_of{inputs.data(), shapes, alone, to, n};
  call.step.ParallelFor((n + shapes.tile - 1) / shapes.tile,
                        cost_ * static_cast<double>(shapes.tile),
                        [&](int64_t first, int64_t last) { RunTiles(tiles_of, first, last); });
  return absl::OkStatus();
}

absl::Status FusedElementwise::RunOneByOne(const FusedCall& call, RunMember run) const {
  Value results[kMostRegisters];
  const size_t last = ops_.size() - 1;
  for (size_t m = 0; m <= last; ++m) {
    const Op& op = ops_[m];
    std::array<Value*, kMostOperands> inputs;
    uint64_t movable = 0;
    const absl::Span<const FusedOperand> operands = members_[m].operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      const FusedOperand& operand = operands[k];
      // An operand that a member reads twice cannot be overwritten.
      const bool is_twice = std::count(operands.begin(), operands.end(), operand) > 1;
      uint64_t may_take = is_twice ? 0 : op.last_read >> k & 1;
      if (operand.input >= 0) {
        inputs[k] = call.inputs[operand.input];
        may_take &= call.movable >> operand.input;
      } else {
        inputs[k] = &results[ops_[operand.member].to];
      }
      movable |= may_take << k;
    }
    absl::Status status =
        run(nodes_[m], inputs.data(), movable, m == last ? call.output : &results[op.to]);
    if (!status.ok()) {
      status.SetPayload(kMemberPayload, absl::Cord(StrCat(m)));
      return status;
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (op.operands[k].member >= 0 && (op.last_read >> k & 1) != 0) inputs[k]->tensor.Clear();
    }
  }
  return absl::OkStatus();
}

}  // namespace sluice
