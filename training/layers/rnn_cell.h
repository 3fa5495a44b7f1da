// Recurrent cells: compute one step from an input and a state.
//
// Nodes and variables have the names of tf.nn.rnn_cell. A state is a list of tensors [batch, size]:
// (c, h) for an LSTM, the states of all cells in order for a MultiRnnCell. Custom cells derive from
// RnnCell (demos/models/sequences.cc has one with attention).
//
// Once built, a cell belongs to one graph. All sequences that use it share its variables.
#ifndef SLUICE_TRAINING_LAYERS_RNN_CELL_H_
#define SLUICE_TRAINING_LAYERS_RNN_CELL_H_

#include <memory>
#include <string>
#include <vector>

#include "ops/math/builders.h"
#include "training/layers/layer.h"

namespace sluice::layers {

struct RnnStep {
  Output output;
  OutputList state;
};

class RnnCell {
 public:
  virtual ~RnnCell() = default;

  // Name of the scope in which Build and Step are called: "lstm_cell".
  virtual std::string name() const = 0;
  // The size per example of each tensor of the state.
  virtual std::vector<int64_t> state_sizes() const = 0;
  virtual int64_t output_size() const = 0;
  // Creates the variables for inputs [batch, size] in the open name scope, outside all loops. A
  // second call does nothing.
  virtual void Build(Graph& graph, int64_t size, DataType dtype, At at) = 0;
  // Returns invalid outputs if the graph has an error.
  virtual RnnStep Step(Output input, const OutputList& state, At at) = 0;
};

// Enters exactly `scope/name/`, without making it unique.
NameScope SameScope(Graph& graph, std::string_view name);

struct RnnCellOptions {
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "";  // "" = the default of the cell
};

// tanh([x, h] * kernel + bias).
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

struct LstmCellOptions {
  bool use_peepholes = false;
  float forget_bias = 1.0f;
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  bool trainable = true;
  bool use_resource = true;
  std::string name = "lstm_cell";
};

// Hochreiter and Schmidhuber (1997), with forget gates and optional peepholes (Gers and Schmidhuber
// 2000). With the name "basic_lstm_cell" and without peepholes, checkpoints are those of
// tf.nn.rnn_cell.BasicLSTMCell.
class LstmCell : public RnnCell, protected Layer {
 public:
  explicit LstmCell(int64_t units, LstmCellOptions options = {});
  std::string name() const override { return Layer::name(); }
  std::vector<int64_t> state_sizes() const override { return {units_, units_}; }
  int64_t output_size() const override { return units_; }
  void Build(Graph& graph, int64_t size, DataType dtype, At at) override;
  RnnStep Step(Output input, const OutputList& state, At at) override;

 private:
  // `gate` plus the contribution of its peephole.
  Output Seeing(Output gate, const Variable& peephole, Output cell, At at) const;

  int64_t units_;
  LstmCellOptions options_;
  Variable kernel_, bias_, forget_, input_, output_;
};

struct GruCellOptions {
  Activation activation = Tanh;
  Initializer kernel_initializer = GlorotUniform();
  Initializer bias_initializer;  // empty: ones for the gates, zeros for the candidate
  bool trainable = true;
  bool use_resource = true;
  std::string name = "gru_cell";
};

// Gated recurrent unit (Cho et al. 2014).
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

// A stack of cells. The output of each is the input of the next.
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
