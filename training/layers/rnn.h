// Recurrent networks: apply a cell to the steps of a sequence.
#ifndef SLUICE_TRAINING_LAYERS_RNN_H_
#define SLUICE_TRAINING_LAYERS_RNN_H_

#include <string_view>

#include "training/layers/rnn_cell.h"

namespace sluice::layers {

// A state of zeros for `batch` examples, a scalar int32.
OutputList ZeroState(const RnnCell& cell, Output batch, DataType dtype = DT_FLOAT,
                     At at = At::current());

struct StaticRnnOptions {
  OutputList initial_state;  // empty: zeros
  std::string_view name = "rnn";
};
struct StaticRnnResult {
  OutputList outputs;  // [batch, size], one per step
  OutputList state;    // after the last
};
// Unrolls the cell over the inputs [batch, size]. Reference: tf.nn.static_rnn.
StaticRnnResult StaticRnn(RnnCell& cell, const OutputList& inputs,
                          const StaticRnnOptions& options = {}, At at = At::current());

struct DynamicRnnOptions {
  // [batch], integers: the length of each example. After its last step the outputs are zeros and
  // the state does not change. Invalid: all steps.
  Output sequence_length;
  OutputList initial_state;  // empty: zeros
  int parallel_iterations = 32;
  bool time_major = false;  // inputs and outputs are [time, batch, size]
  std::string_view name = "rnn";
};
struct DynamicRnnResult {
  Output outputs;    // [batch, time, size]
  OutputList state;  // after an example's last step
};
// Loops over the inputs [batch, time, size]. The number of steps is read when the graph runs.
// Reference: tf.nn.dynamic_rnn, with the same variables and values and fewer nodes.
DynamicRnnResult DynamicRnn(RnnCell& cell, Output inputs, const DynamicRnnOptions& options = {},
                            At at = At::current());

struct BidirectionalRnnResult {
  DynamicRnnResult forward, backward;  // outputs of both are in the order of the inputs
};
// One cell runs forward over the sequence, the other backward, in the scopes `bidirectional_rnn/fw`
// and `…/bw`. Reference: tf.nn.bidirectional_dynamic_rnn.
BidirectionalRnnResult BidirectionalDynamicRnn(RnnCell& forward, RnnCell& backward, Output inputs,
                                               Output sequence_length, At at = At::current());

// [batch, length]: 1 at positions below lengths[i], 0 elsewhere. Reference: tf.sequence_mask.
Output SequenceMask(Output lengths, int32_t length, DataType dtype = DT_FLOAT,
                    At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_RNN_H_
