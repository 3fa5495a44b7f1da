// Recurrent networks: a cell over a sequence.
#ifndef SLUICE_TRAINING_LAYERS_RNN_H_
#define SLUICE_TRAINING_LAYERS_RNN_H_

#include <string_view>

#include "training/layers/rnn_cell.h"

namespace sluice::layers {

// Zeros of the cell's state for `batch` examples, a scalar int32.
OutputList ZeroState(const RnnCell& cell, Output batch, DataType dtype = DT_FLOAT,
                     At at = At::current());

struct StaticRnnOptions {
  OutputList initial_state;  // none: zeros
  std::string_view name = "rnn";
};
struct StaticRnnResult {
  OutputList outputs;  // [batch, size], one a step
  OutputList state;    // after the last
};
// A copy of the cell's nodes for each of the inputs [batch, size]. Reference behaviour:
// tf.nn.static_rnn.
StaticRnnResult StaticRnn(RnnCell& cell, const OutputList& inputs,
                          const StaticRnnOptions& options = {}, At at = At::current());

struct DynamicRnnOptions {
  // [batch], integers: after so many steps an example's output is zeros, and its state stays.
  // None: all steps.
  Output sequence_length;
  OutputList initial_state;  // none: zeros
  int parallel_iterations = 32;
  bool time_major = false;  // inputs and outputs are [time, batch, size]
  std::string_view name = "rnn";
};
struct DynamicRnnResult {
  Output outputs;    // [batch, time, size]
  OutputList state;  // after an example's last step
};
// A loop over the inputs [batch, time, size], as many steps as they have in the run. Reference
// behaviour: tf.nn.dynamic_rnn (the same variables and values; fewer nodes).
DynamicRnnResult DynamicRnn(RnnCell& cell, Output inputs, const DynamicRnnOptions& options = {},
                            At at = At::current());

struct BidirectionalRnnResult {
  DynamicRnnResult forward, backward;  // outputs in the order of the inputs, both
};
// One cell from the first step to the last, one back: `bidirectional_rnn/fw`, `…/bw`. Reference
// behaviour: tf.nn.bidirectional_dynamic_rnn.
BidirectionalRnnResult BidirectionalDynamicRnn(RnnCell& forward, RnnCell& backward, Output inputs,
                                               Output sequence_length, At at = At::current());

// [batch, length]: 1 before lengths[i], else 0. Reference behaviour: tf.sequence_mask.
Output SequenceMask(Output lengths, int32_t length, DataType dtype = DT_FLOAT,
                    At at = At::current());

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_RNN_H_
