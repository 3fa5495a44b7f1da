#include "training/layers/rnn.h"

#include <algorithm>

#include "graph/build/while.h"
#include "graph/status.h"
#include "ops/array/builders.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/indexing/subscript.h"
#include "ops/lists/tensor_array_handle.h"
#include "ops/math/builders.h"
#include "ops/rnn/builders.h"

namespace sluice::layers {
namespace {

void SetError(Graph& graph, std::string_view what, const PartialShape& got, At at) {
  graph.SetError(InvalidArgument(what, ", got ", got.ToString()), at);
}

// Returns the batch size, as a Const if it is known.
Output BatchOf(Output x, int axis, At at) {
  if (const int64_t size = x.shape().dim(axis); size >= 0) {
    return Constant(*x.graph(), static_cast<int32_t>(size), "batch_size", at);
  }
  return ElementAt(Shape(x, {}, at), axis, "strided_slice", at);
}

// Selects `before` for examples that have ended, and `after` for others.
Output Unless(Output ended, Output before, Output after, At at) {
  if (!ended) return after;
  return Select(ended, before, after, {}, at);
}

// Swaps the time and batch dimensions, unless time already comes first.
Output Swapped(Output x, bool time_major, At at) {
  return time_major ? x : Transpose(x, {1, 0, 2}, {}, at);
}

// Loop invariants, that is, values that all iterations use.
struct Loop {
  RnnCell& cell;
  TensorArray in, out;
  Output steps;
  Output lengths;  // invalid if there are none
  Output zero_output;
  std::string scope;
  At at;

  // The loop variables `v` are the time, the flow of the outputs, and the state.
  OutputList Body(const OutputList& v) const {
    const Output time = v[0];
    const Output input = in.Read(time, "", at);
    const OutputList before(v.begin() + 2, v.end());
    if (!input) return {};
    RnnStep step;
    {
      NameScope inside = SameScope(*input.graph(), cell.name());
      step = cell.Step(input, before, at);
    }
    if (!step.output || step.state.size() != before.size()) return {};
    Output ended;
    if (lengths) ended = GreaterEqual(time, lengths, {}, at);
    const Output output = Unless(ended, zero_output, step.output, at);
    OutputList next = {time + 1, out.WithFlow(v[1]).Write(time, output, "", at).flow()};
    for (size_t i = 0; i < before.size(); ++i) {
      next.push_back(Unless(ended, before[i], step.state[i], at));
    }
    return next;
  }
};

// Whether the state has the tensors that the cell indexes. Otherwise sets an error.
bool HasStateOf(const RnnCell& cell, const OutputList& state, Graph& graph, At at) {
  const size_t expected = cell.state_sizes().size();
  const auto valid = std::count_if(state.begin(), state.end(), [](Output o) { return !!o; });
  if (state.size() == expected && static_cast<size_t>(valid) == expected) return true;
  graph.SetError(InvalidArgument("cell '", cell.name(), "': expected a state of ", expected,
                                 " tensors, got ", valid),
                 at);
  return false;
}

// Returns the lengths as a vector [batch].
Output Lengths(Output sequence_length, At at) {
  if (!sequence_length) return Output();
  Output lengths = sequence_length;
  if (lengths.dtype() != DT_INT32) lengths = Cast(lengths, DT_INT32, {}, at);
  return Identity(lengths, {.name = "sequence_length"}, at);
}

}  // namespace

OutputList ZeroState(const RnnCell& cell, Output batch, DataType dtype, At at) {
  if (!batch) return {};
  Graph& g = *batch.graph();
  NameScope scope(g, "zero_state");
  const Output zero = Constant(g, Number(0), dtype, "zero", at);
  OutputList state;
  for (const int64_t size : cell.state_sizes()) {
    const Output width = Constant(g, static_cast<int32_t>(size), "size", at);
    state.push_back(Fill(Stack({batch, width}, 0, {}, at), zero, {.name = "zeros"}, at));
  }
  return state;
}

StaticRnnResult StaticRnn(RnnCell& cell, const OutputList& inputs, const StaticRnnOptions& options,
                          At at) {
  if (inputs.empty() || !inputs[0]) return {};
  Graph& g = *inputs[0].graph();
  NameScope scope(g, options.name);
  const PartialShape& shape = inputs[0].shape();
  if (!shape.rank_known() || shape.rank() != 2 || shape.dim(1) < 0) {
    SetError(g, "StaticRnn: expected inputs [batch, size] of known size", shape, at);
    return {};
  }
  StaticRnnResult result;
  result.state = options.initial_state;
  if (result.state.empty()) {
    result.state = ZeroState(cell, BatchOf(inputs[0], 0, at), BaseType(inputs[0].dtype()), at);
  }
  if (!HasStateOf(cell, result.state, g, at)) return {};
  NameScope inside = SameScope(g, cell.name());
  cell.Build(g, shape.dim(1), BaseType(inputs[0].dtype()), at);
  for (const Output& input : inputs) {
    RnnStep step = cell.Step(input, result.state, at);
    if (!step.output) return {};
    result.outputs.push_back(step.output);
    result.state = std::move(step.state);
  }
  return result;
}

DynamicRnnResult DynamicRnn(RnnCell& cell, Output inputs, const DynamicRnnOptions& options, At at) {
  if (!inputs) return {};
  Graph& g = *inputs.graph();
  const PartialShape& shape = inputs.shape();
  if (!shape.rank_known() || shape.rank() != 3 || shape.dim(2) < 0) {
    SetError(g, "DynamicRnn: expected inputs of three dimensions whose last is known", shape, at);
    return {};
  }
  NameScope scope(g, options.name);
  {
    NameScope inside = SameScope(g, cell.name());
    cell.Build(g, shape.dim(2), BaseType(inputs.dtype()), at);
  }
  const Output rows = Swapped(inputs, options.time_major, at);
  const DataType dtype = BaseType(inputs.dtype());
  const Output steps = ElementAt(ShapeOf(rows, "Shape", at), 0, "strided_slice", at);
  const Output batch = BatchOf(rows, 1, at);
  OutputList state = options.initial_state;
  if (state.empty()) state = ZeroState(cell, batch, dtype, at);
  if (!HasStateOf(cell, state, g, at)) return {};

  const int64_t width = cell.output_size();
  Loop loop{cell, {}, {}, steps, Lengths(options.sequence_length, at), {}, scope.prefix(), at};
  if (loop.lengths) {
    const Output size = Constant(g, static_cast<int32_t>(width), "size", at);
    loop.zero_output = Fill(Stack({batch, size}, 0, {}, at), Constant(g, Number(0), dtype, "zero"),
                            {.name = "zeros"}, at);
  }
  const PartialShape element = {rows.shape().dim(1), width};
  loop.out =
      TensorArray(g, dtype, steps,
                  {.element_shape = element, .tensor_array_name = scope.prefix() + "output_0"}, at);
  loop.in = TensorArray(g, dtype, steps, {.tensor_array_name = scope.prefix() + "input_0"}, at)
                .Unstack(rows, "", at);
  OutputList variables = {Constant(g, 0, "time", at), loop.out.flow()};
  variables.insert(variables.end(), state.begin(), state.end());
  const OutputList end =
      WhileLoop([&](const OutputList& v) { return Less(v[0], loop.steps, {}, at); },
                [&](const OutputList& v) { return loop.Body(v); }, variables,
                {.parallel_iterations = options.parallel_iterations}, at);
  if (end.empty()) return {};
  const Output stacked = loop.out.WithFlow(end[1]).Stack("", at);
  return {Swapped(stacked, options.time_major, at), OutputList(end.begin() + 2, end.end())};
}

BidirectionalRnnResult BidirectionalDynamicRnn(RnnCell& forward, RnnCell& backward, Output inputs,
                                               Output sequence_length, At at) {
  if (!inputs || !sequence_length) return {};
  Graph& g = *inputs.graph();
  NameScope scope(g, "bidirectional_rnn");
  BidirectionalRnnResult result;
  result.forward =
      DynamicRnn(forward, inputs, {.sequence_length = sequence_length, .name = "fw"}, at);
  const Output turned = ReverseSequence(inputs, sequence_length, 1, {}, at);
  result.backward =
      DynamicRnn(backward, turned, {.sequence_length = sequence_length, .name = "bw"}, at);
  if (!result.backward.outputs) return {};
  result.backward.outputs = ReverseSequence(result.backward.outputs, sequence_length, 1, {}, at);
  return result;
}

Output SequenceMask(Output lengths, int32_t length, DataType dtype, At at) {
  if (!lengths) return Output();
  Graph& g = *lengths.graph();
  NameScope scope(g, "SequenceMask");
  const Output ends = ExpandDims(lengths, -1, {}, at);
  Output places = Range(Constant(g, length, "limit", at), "Range", at);
  if (lengths.dtype() != DT_INT32) places = Cast(places, lengths.dtype(), {}, at);
  return Cast(Less(places, ends, {}, at), dtype, {}, at);
}

}  // namespace sluice::layers
