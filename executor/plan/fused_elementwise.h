// Several elementwise nodes run as one: tile by tile in cache, so that what they pass to each other
// never goes through memory. Scalars meet each element, small tensors that are met again and again
// (biases, masks) the last dimensions, and tensors of one element a row (means) its elements. The
// last member may make rows of the others' result: a softmax, or a sum over the last dimension.
//
// Members' results are read by other members only, the last one's is the group's. Where the inputs'
// shapes are not what the plan takes them for, the members run one after the other, as they would
// alone: values, shapes and errors are those of the nodes. The same bits come out whatever the
// number of threads and whether nodes are fused or not.
//
// Thread safety: immutable; many steps run it at once.
#ifndef SLUICE_EXECUTOR_PLAN_FUSED_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_PLAN_FUSED_ELEMENTWISE_H_

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

// How an operand meets the elements of its node's result.
enum class Meets : uint8_t {
  kWhole,   // one by one; a scalar each of them
  kRow,     // the last dimensions, again and again
  kColumn,  // one element those of a row, which lies along the last dimension
  kAside,   // not at all: it says which dimensions a reduction is over
};

// Where a member finds an operand: an input of the group, or the result of an earlier member.
struct FusedOperand {
  int input = -1;
  int member = -1;
  Meets meets = Meets::kWhole;  // another: an input
  bool operator==(const FusedOperand&) const = default;
};

// Whether `part` is 1 in the last dimension, and in the others as `full`, which has one at least.
bool HasOneElementARow(absl::Span<const int64_t> part, absl::Span<const int64_t> full);

struct FusedMember {
  const Node* node = nullptr;
  Kernel* kernel = nullptr;
  const ElementwiseLoops* loops = nullptr;
  const RowKernel* rows = nullptr;  // in place of loops: of the last member, and not of it alone
  absl::InlinedVector<FusedOperand, 2> operands;
  DataType output_type = DT_INVALID;
};

// The values of one call, as a step holds them.
struct FusedCall {
  const StepContext& step;
  Value* const* inputs;
  uint64_t movable;  // inputs whose value may be taken over
  Value* output;
};

class FusedElementwise {
 public:
  // What becomes of a chain of nodes is bounded, so that its state fits into a stack frame.
  static constexpr int kMostMembers = 64;
  static constexpr int kMostInputs = 48;
  static constexpr int kMostRegisters = 6;
  static constexpr int kMostOperands = 8;
  static constexpr size_t kRegisterBytes = 4096;
  // Of elements that lie along the last dimension, where rows are made.
  static constexpr int64_t kMostInARow = 1024;

  // Whether so few results are alive at a time that the members, in this order, can be fused.
  static bool Fits(const std::vector<FusedMember>& members);

  // `members` in an order in which each comes after its operands; the last is the group's result.
  FusedElementwise(std::vector<FusedMember> members, int num_inputs);

  const std::vector<FusedMember>& members() const { return members_; }

  // An error carries, as payload kMemberPayload, the number of the member that it is of.
  absl::Status Run(const FusedCall& call) const;

  // Each member by itself: `run` is told of it and of the values it reads and writes.
  using RunMember = absl::FunctionRef<absl::Status(const PlanNode&, Value* const* inputs,
                                                   uint64_t movable, Value* output)>;
  absl::Status RunOneByOne(const FusedCall& call, RunMember run) const;

  static constexpr const char* kMemberPayload = "sluice/fused_member";
  // The node that an error of Run is of; null if the error does not tell.
  const Node* NodeOf(const absl::Status& error) const;

 private:
  struct Op {                       // a member, as the loops over tiles read it
    const ElementwiseLoops* loops;  // null: makes rows
    const FusedOperand* operands;   // the member's
    int num_operands;
    int column;          // the operand that is kColumn; -1: none
    int to;              // register
    uint32_t last_read;  // bit k: no later operand is what operand k is
  };
  // What one call finds out of its inputs.
  struct Shapes {
    const TensorShape* full = nullptr;  // null: all are scalars
    std::array<bool, kMostInputs> input_alone;
    std::array<int64_t, kMostInputs> repeated;    // elements of inputs that are kRow
    TensorShape of_parts;                         // `full` where no input has it
    int64_t row = 0;                              // elements along the last dimension of `full`
    int64_t tile = 0;                             // elements
    bool asks = false;                            // for the next tile, which is in no cache
    bool streams = false;                         // the result goes past the caches
    std::array<bool, kMostMembers> member_alone;  // all that it is made of are scalars
  };
  // False where the inputs do not fit together as the plan has it.
  bool FindShapes(const FusedCall& call, Shapes* shapes) const;
  bool FindParts(const FusedCall& call, Shapes* shapes) const;
  bool FindShapeOfParts(const FusedCall& call, Shapes* shapes) const;
  bool FindMembers(Shapes* shapes) const;
  absl::Status Allocate(const FusedCall& call, const Shapes& shapes, Tensor** output) const;
  // Puts in place of inputs that are kRow what they are over a tile, wherever that begins.
  absl::StatusOr<Tensor> RepeatRows(const FusedCall& call, const Shapes& shapes,
                                    const char** inputs) const;
  // Room for one element of any type.
  struct alignas(16) Scalar {
    char bytes[16];
  };
  // The members that are scalars (`which`, by member; null: all), into `results`, by member.
  void RunAlone(const char* const* inputs, const bool* which, Scalar* results) const;
  // What all tiles of a call have in common.
  struct TileCall {
    const char* const* inputs;
    const Shapes& shapes;
    const Scalar* alone;
    char* output;
    int64_t n;  // elements
  };
  bool IsAlone(const FusedOperand& operand, const Shapes& shapes) const;
  // Where an operand's elements lie in a tile.
  struct Place {
    const char* base;
    int64_t step;      // bytes an element; 0: the same place for all tiles
    int64_t repeated;  // elements after which they begin again; 0: they do not
    const char* At(int64_t begin) const;
  };
  Place PlaceOf(const FusedOperand& operand, size_t size, const TileCall& call,
                const char* registers) const;
  // A member as the tiles of a block compute it.
  struct TileStep {
    const Op* op;
    ElementwiseLoops::OfTwo two;  // of its loops the one that fits; null: another
    Place x, y;                   // y: of two operands
    char* to;                     // its register
  };
  // What tiles read or write one after the other. Each step of a tile asks for some lines of what
  // the next tile needs of it.
  struct Sequence {
    const char* base;
    int64_t size;  // bytes an element
    int64_t lines, lines_a_step;
  };
  // What the tiles of a block have in common.
  struct Tiles {
    const char* registers;
    absl::Span<const TileStep> steps;
    absl::Span<const Sequence> reads;
    Sequence write;
  };
  // Those that are no scalars, into `steps`; how many.
  size_t FindSteps(const TileCall& call, char* registers, TileStep* steps) const;
  static Sequence SequenceOf(const char* base, size_t size, const TileCall& call, size_t num_steps);
  // Of the inputs, into `reads`; how many.
  size_t FindReads(const TileCall& call, size_t num_steps, Sequence* reads) const;
  // Tiles [first, last), a block of a shared loop.
  void RunTiles(const TileCall& call, int64_t first, int64_t last) const;
  void RunTile(const TileCall& call, const Tiles& tiles, int64_t begin, int64_t n) const;
  void RunStep(const TileCall& call, const Tiles& tiles, const TileStep& step, int64_t begin,
               int64_t n, char* to) const;
  // After a step: for its lines of what the tile from `next` on needs.
  static void AskForTile(const Tiles& tiles, size_t step, int64_t next);

  const std::vector<FusedMember> members_;
  std::vector<Op> ops_;          // by member
  std::vector<PlanNode> nodes_;  // by member
  std::vector<DataType> types_;  // behind nodes_
  const int num_inputs_;
  const RowKernel* rows_ = nullptr;           // of the last member, if it makes rows
  std::vector<Meets> meets_;                  // by input
  std::vector<size_t> in_size_;               // by input: bytes an element
  bool has_parts_ = false;                    // an input is kRow or kColumn
  std::vector<const PartialShape*> spreads_;  // results of members that spread a column: all known
  size_t largest_ = 1;                        // bytes of an element
  size_t out_size_ = 0;                       // of the result
  bool is_reduction_ = false;                 // the result has one element a row
  int64_t tile_ = 0;                          // elements, but for whole rows
  double cost_ = 0;                           // nanoseconds an element
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_FUSED_ELEMENTWISE_H_
