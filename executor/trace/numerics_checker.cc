#include "executor/trace/numerics_checker.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <mutex>
#include <string>

#include "graph/status.h"

namespace sluice {
namespace {

struct Census {
  int64_t nans = 0;
  int64_t infinities = 0;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool IsClean() const { return nans == 0 && infinities == 0; }
  void Count(double x) {
    if (std::isnan(x)) {
      ++nans;
    } else if (std::isinf(x)) {
      ++infinities;
    } else {
      least = std::min(least, x);
      greatest = std::max(greatest, x);
    }
  }
};

template <typename T>
void CountReal(const Tensor& t, Census& census) {
  for (const T& x : t.flat<T>()) census.Count(static_cast<double>(x));
}

template <typename T>
void CountComplex(const Tensor& t, Census& census) {
  for (const std::complex<T>& x : t.flat<std::complex<T>>()) {
    census.Count(x.real());
    census.Count(x.imag());
  }
}

// Returns false for types without NaN and infinity.
bool TakeCensus(const Tensor& t, Census& census) {
  if (!t.IsInitialized()) return false;
  switch (t.dtype()) {
    case DT_HALF:
      CountReal<half>(t, census);
      return true;
    case DT_BFLOAT16:
      CountReal<bfloat16>(t, census);
      return true;
    case DT_FLOAT:
      CountReal<float>(t, census);
      return true;
    case DT_DOUBLE:
      CountReal<double>(t, census);
      return true;
    case DT_COMPLEX64:
      CountComplex<float>(t, census);
      return true;
    case DT_COMPLEX128:
      CountComplex<double>(t, census);
      return true;
    default:
      return false;
  }
}

// Copies a variable, because other nodes may write to it meanwhile.
Tensor TensorOf(const Value& value) {
  if (value.is_dead) return Tensor();
  if (value.ref == nullptr) return value.tensor;
  std::lock_guard lock(*value.ref_claim);
  if (!value.ref->IsInitialized()) return Tensor();
  absl::StatusOr<Tensor> copy = value.ref->Clone();
  return copy.ok() ? *std::move(copy) : Tensor();
}

std::string BadValues(const Census& census) {
  std::string text;
  if (census.nans > 0) StrAppend(&text, census.nans, " NaN");
  if (census.infinities > 0) {
    StrAppend(&text, text.empty() ? "" : " and ", census.infinities, " infinite");
  }
  return text;
}

std::string Describe(const Tensor& t) {
  std::string text = StrCat(DataTypeName(t.dtype()), " ", t.shape().ToString());
  Census census;
  if (!TakeCensus(t, census)) return text;
  if (census.least <= census.greatest) {
    StrAppend(&text, " from ", census.least, " to ", census.greatest);
  }
  if (!census.IsClean()) StrAppend(&text, " with ", BadValues(census));
  return text;
}

std::string DescribeInputs(const NodeRun& run) {
  std::string text;
  const absl::Span<const Output> names = run.node.node->inputs();
  // If accumulate_sums adds a running sum, the node has one more input than in the graph.
  const int count = std::min<int>(run.node.num_inputs, static_cast<int>(names.size()));
  for (int i = 0; run.inputs != nullptr && i < count; ++i) {
    StrAppend(&text, i == 0 ? "; inputs: '" : ", '", names[i].name(), "' ",
              Describe(TensorOf(*run.inputs[i])));
  }
  return text;
}

}  // namespace

absl::Status NumericsChecker::OnNode(const NodeRun& run) {
  // What a task receives was checked where it was computed, or was fed.
  const bool is_received = run.node.node->role() == OpRole::kReceive;
  for (int i = 0; i < run.node.num_outputs && !is_received; ++i) {
    const Tensor out = TensorOf(run.outputs[i]);
    Census census;
    if (!TakeCensus(out, census) || census.IsClean()) continue;
    return InvalidArgument(run.node.node->Describe(), ": expected finite numbers, got ",
                           BadValues(census), " of ", out.num_elements(), " in output ", i, " (",
                           Describe(out), ") at step ", step_id_, DescribeInputs(run));
  }
  return next_ == nullptr ? absl::OkStatus() : next_->OnNode(run);
}

}  // namespace sluice
