#include "training/layers/rnn_cell.h"

#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "training/layers/name_or.h"

namespace sluice::layers {
namespace {

// Returns [x, h] * kernel + bias.
Output Affine(Output x, Output h, const Variable& kernel, const Variable& bias, At at) {
  const Output both = Concat({x, h}, 1, {}, at);
  return BiasAddWith(MatMulWith(both, kernel, at), bias, at);
}

}  // namespace

NameScope SameScope(Graph& graph, std::string_view name) {
  return NameScope(graph, StrCat(graph.scopes().name, name, "/"));
}

BasicRnnCell::BasicRnnCell(int64_t units, RnnCellOptions options)
    : Layer(std::string(NameOr(options.name, "basic_rnn_cell")), options.use_resource,
            options.trainable),
      units_(units),
      options_(std::move(options)) {}

void BasicRnnCell::Build(Graph& graph, int64_t size, DataType dtype, At at) {
  if (kernel_) return;
  const Initializer zeros = Zeros();
  kernel_ = MakeVariable(graph, dtype,
                         {"kernel", {size + units_, units_}, options_.kernel_initializer}, at);
  bias_ = MakeVariable(graph, dtype, {"bias", {units_}, zeros}, at);
}

RnnStep BasicRnnCell::Step(Output input, const OutputList& state, At at) {
  const Output h = options_.activation(Affine(input, state[0], kernel_, bias_, at));
  return {h, {h}};
}

LstmCell::LstmCell(int64_t units, LstmCellOptions options)
    : Layer(options.name, options.use_resource, options.trainable),
      units_(units),
      options_(std::move(options)) {}

void LstmCell::Build(Graph& graph, int64_t size, DataType dtype, At at) {
  if (kernel_) return;
  const Initializer zeros = Zeros();
  const Initializer& initializer = options_.kernel_initializer;
  kernel_ = MakeVariable(graph, dtype, {"kernel", {size + units_, 4 * units_}, initializer}, at);
  bias_ = MakeVariable(graph, dtype, {"bias", {4 * units_}, zeros}, at);
  if (!options_.use_peepholes) return;
  forget_ = MakeVariable(graph, dtype, {"w_f_diag", {units_}, initializer}, at);
  input_ = MakeVariable(graph, dtype, {"w_i_diag", {units_}, initializer}, at);
  output_ = MakeVariable(graph, dtype, {"w_o_diag", {units_}, initializer}, at);
}

Output LstmCell::Seeing(Output gate, const Variable& peephole, Output cell, At at) const {
  if (!peephole) return gate;
  const Output seen = WithRead("mul", peephole, at, [&](Output value, std::string_view name) {
    return Mul(value, cell, {.name = name}, at);
  });
  return gate + seen;
}

RnnStep LstmCell::Step(Output input, const OutputList& state, At at) {
  const Output c_before = state[0], h_before = state[1];
  const Output all = Affine(input, h_before, kernel_, bias_, at);
  const OutputList gates = Split(all, 4, 1, {}, at);  // input, new input, forget, output
  if (gates.size() != 4) return {Output(), {Output(), Output()}};
  const Output forget_gate = gates[2] + options_.forget_bias;
  const Output forget = Sigmoid(Seeing(forget_gate, forget_, c_before, at), {}, at);
  const Output kept = forget * c_before;
  const Output take = Sigmoid(Seeing(gates[0], input_, c_before, at), {}, at);
  const Output fresh = options_.activation(gates[1]);
  const Output taken = take * fresh;
  const Output c = kept + taken;
  const Output give = Sigmoid(Seeing(gates[3], output_, c, at), {}, at);
  const Output shown = options_.activation(c);
  const Output h = give * shown;
  return {h, {c, h}};
}

GruCell::GruCell(int64_t units, GruCellOptions options)
    : Layer(options.name, options.use_resource, options.trainable),
      units_(units),
      options_(std::move(options)) {}

void GruCell::Build(Graph& graph, int64_t size, DataType dtype, At at) {
  if (kernel_) return;
  const Initializer& given = options_.bias_initializer;
  const Initializer ones = given ? given : Ones(), zeros = given ? given : Zeros();
  const Initializer& initializer = options_.kernel_initializer;
  {
    NameScope gates = SameScope(graph, "gates");
    gate_kernel_ =
        MakeVariable(graph, dtype, {"kernel", {size + units_, 2 * units_}, initializer}, at);
    gate_bias_ = MakeVariable(graph, dtype, {"bias", {2 * units_}, ones}, at);
  }
  NameScope candidate = SameScope(graph, "candidate");
  kernel_ = MakeVariable(graph, dtype, {"kernel", {size + units_, units_}, initializer}, at);
  bias_ = MakeVariable(graph, dtype, {"bias", {units_}, zeros}, at);
}

RnnStep GruCell::Step(Output input, const OutputList& state, At at) {
  const Output h_before = state[0];
  const Output both = Sigmoid(Affine(input, h_before, gate_kernel_, gate_bias_, at), {}, at);
  const OutputList gates = Split(both, 2, 1, {}, at);  // reset, update
  if (gates.size() != 2) return {Output(), {Output()}};
  const Output reset = gates[0] * h_before;
  const Output candidate = options_.activation(Affine(input, reset, kernel_, bias_, at));
  const Output kept = gates[1] * h_before;
  const Output share = 1.0f - gates[1];
  const Output taken = share * candidate;
  const Output h = kept + taken;
  return {h, {h}};
}

std::vector<int64_t> MultiRnnCell::state_sizes() const {
  std::vector<int64_t> sizes;
  for (const auto& cell : cells_) {
    for (int64_t size : cell->state_sizes()) sizes.push_back(size);
  }
  return sizes;
}

int64_t MultiRnnCell::output_size() const {
  return cells_.empty() ? 0 : cells_.back()->output_size();
}

void MultiRnnCell::Build(Graph& graph, int64_t size, DataType dtype, At at) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    NameScope scope = SameScope(graph, StrCat("cell_", i, "/", cells_[i]->name()));
    cells_[i]->Build(graph, size, dtype, at);
    size = cells_[i]->output_size();
  }
}

RnnStep MultiRnnCell::Step(Output input, const OutputList& state, At at) {
  RnnStep all{input, {}};
  size_t next = 0;
  for (size_t i = 0; i < cells_.size() && input; ++i) {
    NameScope scope = SameScope(*input.graph(), StrCat("cell_", i, "/", cells_[i]->name()));
    const size_t count = cells_[i]->state_sizes().size();
    const OutputList own(state.begin() + next, state.begin() + next + count);
    next += count;
    const RnnStep step = cells_[i]->Step(all.output, own, at);
    all.output = step.output;
    all.state.insert(all.state.end(), step.state.begin(), step.state.end());
  }
  return all;
}

}  // namespace sluice::layers
