// A fusion group: several elementwise nodes that run as one, tile by tile in the cache, so that
// intermediate results never go through memory. Operands may broadcast: scalars, small tensors that
// are repeated over the first dimensions (biases, masks), and tensors of one element per row
// (means). The last member may map rows of the others' result: a softmax, or a sum over the last
// dimension.
//
// The result of the last member is the group's result. Only members read the results of the other
// members. If the inputs do not have the shapes that the plan expects, the members run one by one,
// as they would without the group. Values, shapes and errors are those of the nodes. Results have
// the same bits for any number of threads, with and without fusion.
//
// Thread safety: immutable; many steps may run one group at the same time.
#ifndef SLUICE_EXECUTOR_FUSION_FUSED_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSED_ELEMENTWISE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernel/context.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/row_kernel.h"
#include "executor/plan/plan.h"

namespace sluice {

// The way in which an operand is broadcast to the shape of its node's result.
enum class BroadcastKind : uint8_t {
  kWhole,   // the shape of the result, or a scalar
  kRow,     // repeated over the first dimensions
  kColumn,  // one element per row of the last dimension
  kAxes,    // not elementwise: lists the dimensions of a reduction
};

// An operand of a member: an input of the group, or the result of an earlier member. One of `input`
// and `member` is set, the other one is -1.
struct FusedOperand {
  int input = -1;                                   // the number of the input
  int member = -1;                                  // the number of the earlier member
  BroadcastKind broadcast = BroadcastKind::kWhole;  // other kinds only for inputs
  bool operator==(const FusedOperand&) const = default;
};

// Whether `part` is the shape `full` with a last dimension of 1. `full` has at least one dimension.
bool HasOneElementARow(absl::Span<const int64_t> part, absl::Span<const int64_t> full);

// One node of a fusion group.
struct FusedMember {
  const Node* node = nullptr;
  Kernel* kernel = nullptr;
  const ElementwiseLoops* loops = nullptr;
  // Set instead of `loops` if the member maps rows. Only the last of several members may do so.
  const RowKernel* rows = nullptr;
  absl::InlinedVector<FusedOperand, 2> operands;
  DataType output_type = DT_INVALID;
};

// The inputs and the output of one run of a group in a step.
struct FusedCall {
  const StepContext& step;
  Value* const* inputs;
  uint64_t movable;  // bit i: the group may overwrite input i, because no later node reads it
  Value* output;
};

class FusedElementwise {
 public:
  // Limits on the size of a group, so that the state of a call fits into a stack frame. A register
  // is a buffer for one tile of a member's result.
  static constexpr int kMostMembers = 64;
  static constexpr int kMostInputs = 48;
  static constexpr int kMostRegisters = 6;
  static constexpr int kMostOperands = 8;
  static constexpr size_t kRegisterBytes = 4096;
  // The longest row for members that map rows.
  static constexpr int64_t kMostInARow = 1024;

  // Whether a group of these members, in this order, is within kMostMembers and kMostRegisters.
  static bool Fits(const std::vector<FusedMember>& members);

  // Each member comes after its operands. The last one computes the group's result.
  FusedElementwise(std::vector<FusedMember> members, int num_inputs);

  const std::vector<FusedMember>& members() const { return members_; }

  // If a member fails, the error carries the member's number as payload kMemberPayload.
  absl::Status Run(const FusedCall& call) const;

  // Runs the members one by one, as they would run without the group. Calls `run` for each member,
  // with its node, its input and output values, and the inputs that it may overwrite (as in
  // FusedCall::movable).
  using RunMember = absl::FunctionRef<absl::Status(const PlanNode&, Value* const* inputs,
                                                   uint64_t movable, Value* output)>;
  absl::Status RunOneByOne(const FusedCall& call, RunMember run) const;

  static constexpr const char* kMemberPayload = "sluice/fused_member";
  // Returns the node of the member that failed with `error`, which Run returned. Null if the error
  // does not name a member.
  const Node* NodeOf(const absl::Status& error) const;

 private:
  struct Op {                       // a member in the form that the loops over tiles read
    const ElementwiseLoops* loops;  // null for a member that maps rows
    const FusedOperand* operands;   // the member's
    int num_operands;
    int column;          // the index of the kColumn operand; -1 if there is none
    int to;              // the register for the result
    uint32_t last_read;  // bit k: operand k is the last reader of its value
  };
  // The shapes of one call.
  struct Shapes {
    const TensorShape* full = nullptr;  // all operands broadcast to it; null if all are scalars
    std::array<bool, kMostInputs> input_alone;
    std::array<int64_t, kMostInputs> repeated;    // the number of elements of each kRow input
    TensorShape of_parts;                         // the shape `full` if no input has this shape
    int64_t row = 0;                              // elements of the last dimension of `full`
    int64_t tile = 0;                             // elements
    bool prefetches = false;                      // each tile prefetches the data of the next one
    bool streams = false;                         // the result is written with streaming stores
    std::array<bool, kMostMembers> member_alone;  // members whose result is a scalar
  };
  // False if the inputs do not have the shapes that the plan expects.
  bool FindShapes(const FusedCall& call, Shapes* shapes) const;
  bool FindParts(const FusedCall& call, Shapes* shapes) const;
  bool FindShapeOfParts(const FusedCall& call, Shapes* shapes) const;
  bool FindMembers(Shapes* shapes) const;
  absl::StatusOr<Tensor*> Allocate(const FusedCall& call, const Shapes& shapes) const;
  // Copies kRow inputs so that their elements are repeated and each tile finds its elements in one
  // sequence. Replaces their addresses in `inputs`. Returns the tensor that holds the copies, or an
  // empty one if no input needs a copy.
  absl::StatusOr<Tensor> RepeatRows(const FusedCall& call, const Shapes& shapes,
                                    const char** inputs) const;
  // Storage for one element of any type.
  struct alignas(16) Scalar {
    char bytes[16];
  };
  // Computes the members in `which` (null: all), whose results are scalars.
  void RunAlone(const char* const* inputs, const bool* which, Scalar* results) const;
  // The properties that all tiles of a call share.
  struct TileCall {
    const char* const* inputs;
    const Shapes& shapes;
    const Scalar* alone;
    char* output;
    int64_t n;  // elements
  };
  bool IsAlone(const FusedOperand& operand, const Shapes& shapes) const;
  // Gives the address of an operand's elements in each tile.
  struct Place {
    const char* base;
    int64_t step;      // bytes per element; 0: the same address for all tiles
    int64_t repeated;  // the period in elements; 0: none
    const char* At(int64_t begin) const;
  };
  Place PlaceOf(const FusedOperand& operand, size_t size, const TileCall& call,
                const char* registers) const;
  // A member in the form that the tiles of a block compute.
  struct TileStep {
    const Op* op;
    ElementwiseLoops::OfTwo two;  // the loop for x and y; null for all other forms of members
    Place x, y;                   // the operands; y only if there are two
    char* to;                     // the register of its result
  };
  // An array that consecutive tiles read or write from the beginning to the end. While a tile is
  // computed, each of its steps prefetches some lines of the next tile.
  struct Sequence {
    const char* base;
    int64_t size;  // bytes per element
    int64_t lines, lines_per_step;
  };
  // The properties that the tiles of a block share.
  struct Tiles {
    const char* registers;
    absl::Span<const TileStep> steps;
    absl::Span<const Sequence> reads;
    Sequence write;
  };
  // Sets the steps of the members that are not scalars. Returns their number.
  size_t FindSteps(const TileCall& call, char* registers, TileStep* steps) const;
  static Sequence SequenceOf(const char* base, size_t size, const TileCall& call, size_t num_steps);
  // Sets the sequences of the inputs. Returns their number.
  size_t FindReads(const TileCall& call, size_t num_steps, Sequence* reads) const;
  // Computes tiles [first, last), which are one block of the parallel loop over all tiles.
  void RunTiles(const TileCall& call, int64_t first, int64_t last) const;
  void RunTile(const TileCall& call, const Tiles& tiles, int64_t begin, int64_t n) const;
  void RunStep(const TileCall& call, const Tiles& tiles, const TileStep& step, int64_t begin,
               int64_t n, char* to) const;
  // Prefetches a step's lines of the tile that begins at `next`.
  static void PrefetchTile(const Tiles& tiles, size_t step, int64_t next);

  const std::vector<FusedMember> members_;
  std::vector<Op> ops_;          // by member
  std::vector<PlanNode> nodes_;  // by member
  std::vector<DataType> types_;  // output types, to which nodes_ point
  const int num_inputs_;
  const RowKernel* rows_ = nullptr;        // of the last member, if it maps rows
  std::vector<BroadcastKind> broadcasts_;  // by input
  std::vector<size_t> in_size_;            // by input: bytes per element
  bool has_parts_ = false;                 // an input is kRow or kColumn
  // The result shapes of members with ElementwiseLoops::spreads.
  std::vector<const PartialShape*> spreads_;
  size_t largest_ = 1;         // bytes of the largest element
  size_t out_size_ = 0;        // bytes of the result's element
  bool is_reduction_ = false;  // the result has one element per row
  int64_t tile_ = 0;           // elements, before rounding to whole rows
  double cost_ = 0;            // nanoseconds per element
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSED_ELEMENTWISE_H_
