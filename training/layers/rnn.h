// Recurrent networks, which apply a cell to the steps of a sequence.
//
//   layers::LstmCell cell(128);
//   layers::DynamicRnnResult r = layers::DynamicRnn(cell, x, {.sequence_length = lengths});
//   Output last = r.state[1];                      // h after each example's last step
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the functions use the cell during the call only. The graph owns its variables.
// Errors: stay in the graph; results are then empty. INVALID_ARGUMENT if the inputs do not have the
// rank that the function requires, or if the size of their last dimension is unknown.
#ifndef SLUICE_TRAINING_LAYERS_RNN_H_
#define SLUICE_TRAINING_LAYERS_RNN_H_

#include <string_view>

#include "training/layers/rnn_cell.h"

namespace sluice::layers {

// Returns a state of zeros: one tensor [batch, size] for each `size` in state_sizes(). `batch`, the
// number of examples, is an int32 scalar.
OutputList ZeroState(const RnnCell& cell, Output batch, DataType dtype = DT_FLOAT,
                     At at = At::current());

struct StaticRnnOptions {
  // The state before the first step, with the sizes of RnnCell::state_sizes. Empty: zeros.
  OutputList initial_state;
  std::string_view name = "rnn";
};
struct StaticRnnResult {
  // The outputs of the cell: one tensor [batch, size] per step.
  OutputList outputs;
  // The state after the last step.
  OutputList state;
};

// Applies the cell to the inputs, one tensor [batch, size] per step. The graph has the nodes of
// every step, so use it for short sequences of fixed length. Reference: tf.nn.static_rnn.
StaticRnnResult StaticRnn(RnnCell& cell, const OutputList& inputs,
                          const StaticRnnOptions& options = {}, At at = At::current());

struct DynamicRnnOptions {
  // [batch], integers: the length of each example. After its last step the outputs are zeros and
  // the state does not change. Invalid: all steps.
  Output sequence_length;
  // The state before the first step, with the sizes of RnnCell::state_sizes. Empty: zeros.
  OutputList initial_state;
  // The number of steps that may run at the same time (WhileOptions). More use more memory.
  int parallel_iterations = 32;
  // Whether inputs and outputs are [time, batch, size], which saves two transpositions.
  bool time_major = false;
  std::string_view name = "rnn";
};
struct DynamicRnnResult {
  // The outputs of the cell: [batch, time, size], or [time, batch, size] if time_major.
  Output outputs;
  // The state after each example's last step.
  OutputList state;
};

// Applies the cell to the inputs [batch, time, size] in a loop over the time. The number of steps
// is read when the graph runs, so that it may differ between batches. Reference: tf.nn.dynamic_rnn,
// with the same variables and values and fewer nodes.
DynamicRnnResult DynamicRnn(RnnCell& cell, Output inputs, const DynamicRnnOptions& options = {},
                            At at = At::current());

struct BidirectionalRnnResult {
  // The results of each direction. Outputs of both are in the order of the inputs.
  DynamicRnnResult forward, backward;
};

// Runs one cell forward over the sequence and the other backward, in the scopes
// `bidirectional_rnn/fw` and `bidirectional_rnn/bw`. `inputs` is [batch, time, size].
// `sequence_length`, as in DynamicRnnOptions, is required. Reference:
// tf.nn.bidirectional_dynamic_rnn.
BidirectionalRnnResult BidirectionalDynamicRnn(RnnCell& forward, RnnCell& backward, Output inputs,
                                               Output sequence_length, At at = At::current());

// Returns a mask [batch, length] for `lengths` [batch]: row i is 1 at the first lengths[i]
// positions, and 0 elsewhere.
// Reference: tf.sequence_mask.
Output SequenceMask(Output lengths, int32_t length, DataType dtype = DT_FLOAT,
                    At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_RNN_H_
