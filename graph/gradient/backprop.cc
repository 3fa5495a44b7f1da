#include "graph/gradient/backprop.h"

#include "graph/build/core_ops.h"
#include "graph/status.h"

namespace sluice {

Backprop::Backprop(Node* op, std::vector<Grad> output_grads)
    : op_(op), output_grads_(std::move(output_grads)), input_grads_(op->num_inputs()) {
  output_grads_.resize(op->num_outputs());
  zeros_.resize(op->num_outputs());
}

std::pair<int, int> Backprop::Range(std::string_view arg, bool inputs_only) {
  if (const int i = op_->def().InputIndex(arg); i >= 0) return op_->InputRange(i);
  const int o = inputs_only ? -1 : op_->def().OutputIndex(arg);
  if (o >= 0) return op_->OutputRange(o);
  Fail(absl::InternalError(StrCat(op_->Describe(), ": its gradient asks for '", arg,
                                  "', which is no argument of the op")));
  return {0, 0};
}

Output Backprop::Value(std::string_view arg) {
  const OutputList values = Values(arg);
  return values.empty() ? Output() : values[0];
}

OutputList Backprop::Values(std::string_view arg) {
  const auto [first, last] = Range(arg);
  const bool is_input = op_->def().InputIndex(arg) >= 0;
  OutputList values;
  for (int i = first; i < last; ++i) values.push_back(is_input ? In(i) : Out(i));
  return values;
}

Output Backprop::Of(int output) {
  Grad& grad = output_grads_[output];
  if (grad.is_slices()) grad = ToDense(grad);
  if (grad.is_dense()) return grad.dense();
  if (!zeros_[output]) zeros_[output] = core::ZerosLike(Out(output));
  return zeros_[output];
}

Output Backprop::Of(std::string_view arg) {
  const OutputList grads = ListOf(arg);
  return grads.empty() ? Output() : grads[0];
}

OutputList Backprop::ListOf(std::string_view arg) {
  OutputList grads;
  const int index = op_->def().OutputIndex(arg);
  if (index < 0) {
    Fail(absl::InternalError(StrCat(op_->Describe(), ": its gradient asks for that of '", arg,
                                    "', which is no output of the op")));
    return grads;
  }
  const auto [first, last] = op_->OutputRange(index);
  for (int i = first; i < last; ++i) grads.push_back(Of(i));
  return grads;
}

void Backprop::Into(std::string_view arg, Grad grad) { IntoList(arg, std::vector<Grad>{grad}); }

void Backprop::Into(int input, Grad grad) { input_grads_[input] = std::move(grad); }

void Backprop::IntoList(std::string_view arg, const std::vector<Grad>& grads) {
  const auto [first, last] = Range(arg, /*inputs_only=*/true);
  if (!graph().status().ok()) return;  // a failed op may have made a list of another length
  if (static_cast<size_t>(last - first) != grads.size()) {
    Fail(absl::InternalError(StrCat(op_->Describe(), ": its gradient gives ", grads.size(),
                                    " tensors for '", arg, "', which has ", last - first)));
    return;
  }
  for (int i = first; i < last; ++i) input_grads_[i] = grads[i - first];
}

void Backprop::IntoList(std::string_view arg, const OutputList& grads) {
  IntoList(arg, std::vector<Grad>(grads.begin(), grads.end()));
}

void Backprop::Fail(absl::Status status) { status_.Update(status); }

}  // namespace sluice
