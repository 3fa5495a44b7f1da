// Recurrent cells, which compute one step from an input and a state.
//
//   layers::LstmCell cell(128);
//   cell.Build(g, 64, DT_FLOAT, At::current());            // for inputs [batch, 64]
//   layers::RnnStep step = cell.Step(x, state, At::current());
//
// DynamicRnn and StaticRnn (rnn.h) call Build and Step. A state is a list of tensors [batch, size]:
// (c, h) for an LSTM, the states of all cells in order for a MultiRnnCell. Custom cells derive from
// RnnCell (demos/models/sequences.cc has one with attention).
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the variables. Once built, a cell belongs to one graph, and all
// sequences that use it share its variables.
// Errors: stay in the graph; the outputs are then invalid.
// Reference: tf.nn.rnn_cell, with the same nodes and names of variables.
#ifndef SLUICE_TRAINING_LAYERS_RNN_CELL_H_
#define SLUICE_TRAINING_LAYERS_RNN_CELL_H_

#include <memory>
#include <string>
#include <vector>

#include "ops/math/builders.h"
#include "training/layers/layer.h"

namespace sluice::layers {

// The results of one step: output [batch, output_size()], and the next state.
struct RnnStep {
  Output output;
  OutputList state;
};

// The interface of cells. State and inputs of one call of Step have the same batch size.
class RnnCell {
 public:
  virtual ~RnnCell() = default;

  // Name of the scope in which Build and Step are called: "lstm_cell".
  virtual std::string name() const = 0;
  // The size per example of each tensor of the state.
  virtual std::vector<int64_t> state_sizes() const = 0;
  // The size per example of an output.
  virtual int64_t output_size() const = 0;
  // Creates the variables for inputs [batch, size] in the open name scope, outside all loops. A
  // second call does nothing.
  virtual void Build(Graph& graph, int64_t size, DataType dtype, At at) = 0;

  // Adds the nodes of one step. Build must have been called before. `input` is [batch, size],
  // `state` has the sizes of state_sizes(). Returns invalid outputs if the graph has an error.
  virtual RnnStep Step(Output input, const OutputList& state, At at) = 0;
};

// Opens the name scope `name` in the open scope, even if it was used before: no "_1" is appended.
NameScope SameScope(Graph& graph, std::string_view name);

// Options of BasicRnnCell.
struct RnnCellOptions {
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  bool trainable = true;
  bool use_resource = true;
  // Name scope of the variables. "": the default of the cell.
  std::string name = "";
};

// The basic recurrent cell: with the input x and the state h, it computes the new state
// activation([x, h] * kernel + bias), which is also the output. The activation is tanh by default.
// Default name: "basic_rnn_cell". Variables `<name>/kernel` [size + units, units], `<name>/bias`
// [units]. Reference: tf.nn.rnn_cell.BasicRNNCell.
class BasicRnnCell : public RnnCell, protected Layer {
 public:
  explicit BasicRnnCell(int64_t units, RnnCellOptions options = {});
  std::string name() const override { return Layer::name(); }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  int64_t output_size() const override { return units_; }
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override;
  RnnStep Step(Output input, const OutputList& state, At at) override;

 private:
  int64_t units_;
  RnnCellOptions options_;
  Variable kernel_, bias_;
};

// Options of LstmCell. The variable `bias` starts at 0, and does not include forget_bias.
struct LstmCellOptions {
  // Whether the gates see the cell's state c through diagonal weights.
  bool use_peepholes = false;
  // Added to the forget gate, so that an untrained cell remembers.
  float forget_bias = 1.0f;
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "lstm_cell";
};

// Long short-term memory (Hochreiter and Schmidhuber 1997), with forget gates and optional
// peepholes (Gers and Schmidhuber 2000). With the input x, the state (c, h), and i, j, f, o as the
// quarters of [x, h] * kernel + bias, the new state is
//
//   c = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j)
//   h = sigmoid(o) * activation(c)
//
// The output is h. With the name "basic_lstm_cell" and without peepholes, checkpoints are those of
// tf.nn.rnn_cell.BasicLSTMCell. Reference: tf.nn.rnn_cell.LSTMCell.
//
// Variables `<name>/kernel` [size + units, 4 * units], `<name>/bias` [4 * units]; with peepholes
// also `<name>/w_f_diag`, `…/w_i_diag`, `…/w_o_diag`, [units] each.
class LstmCell : public RnnCell, protected Layer {
 public:
  explicit LstmCell(int64_t units, LstmCellOptions options = {});
  std::string name() const override { return Layer::name(); }
  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }
  int64_t output_size() const override { return units_; }
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override;
  RnnStep Step(Output input, const OutputList& state, At at) override;

 private:
  // Returns `gate` plus the product of `cell`, the state c, and the diagonal weights `peephole`.
  Output Seeing(Output gate, const Variable& peephole, Output cell, At at) const;

  int64_t units_;
  LstmCellOptions options_;
  Variable kernel_, bias_, forget_, input_, output_;
};

// Options of GruCell. The defaults are those of tf.nn.rnn_cell.GRUCell.
struct GruCellOptions {
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  // Empty: ones for the gates, zeros for the candidate.
  Initializer bias_initializer;
  bool trainable = true;
  bool use_resource = true;
  std::string name = "gru_cell";
};

// Gated recurrent unit (Cho et al. 2014). With the input x, the state h, and r, u as the halves of
// sigmoid([x, h] * gates/kernel + gates/bias), it computes
//
//   c = activation([x, r * h] * candidate/kernel + candidate/bias)
//   h = u * h + (1 - u) * c
//
// The output is the new state h. Reference: tf.nn.rnn_cell.GRUCell.
//
// Variables `<name>/gates/kernel` [size + units, 2 * units], `<name>/gates/bias` [2 * units],
// `<name>/candidate/kernel` [size + units, units] and `<name>/candidate/bias` [units].
class GruCell : public RnnCell, protected Layer {
 public:
  explicit GruCell(int64_t units, GruCellOptions options = {});
  std::string name() const override { return Layer::name(); }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  int64_t output_size() const override { return units_; }
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override;
  RnnStep Step(Output input, const OutputList& state, At at) override;

 private:
  int64_t units_;
  GruCellOptions options_;
  Variable gate_kernel_, gate_bias_, kernel_, bias_;
};

// A stack of cells. The output of each cell is the input of the next one. The stack shares
// ownership of the cells. Pass a separate object for each layer, because an object that is passed
// twice uses the same variables in both layers. Cell i adds its variables in the scope
// `multi_rnn_cell/cell_<i>/<name>`. Reference: tf.nn.rnn_cell.MultiRNNCell.
//
//   layers::MultiRnnCell stack({std::make_shared<layers::LstmCell>(128),
//                               std::make_shared<layers::LstmCell>(64)});
class MultiRnnCell : public RnnCell {
 public:
  explicit MultiRnnCell(std::vector<std::shared_ptr<RnnCell>> cells) : cells_(std::move(cells)) {}
  std::string name() const override { return "multi_rnn_cell"; }
  std::vector<int64_t> state_sizes() const override;
  int64_t output_size() const override;
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override;
  RnnStep Step(Output input, const OutputList& state, At at) override;

 private:
  std::vector<std::shared_ptr<RnnCell>> cells_;
};

}  // namespace sluice::layers

#endif  // SLUICE_TRAINING_LAYERS_RNN_CELL_H_
