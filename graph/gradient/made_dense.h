// The attribute by which Lint recognizes dense tensors that ToDense computed from sparse gradients,
// to warn of their size.
#ifndef SLUICE_GRAPH_GRADIENT_MADE_DENSE_H_
#define SLUICE_GRAPH_GRADIENT_MADE_DENSE_H_

namespace sluice {

// Name of the attribute, a bool that is true on a node with such a tensor.
inline constexpr char kMadeDenseAttr[] = "_made_dense";

}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_MADE_DENSE_H_
