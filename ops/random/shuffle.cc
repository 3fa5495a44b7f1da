#include "ops/random/shuffle.h"

#include <cstring>
#include <numeric>
#include <vector>

namespace sluice::random {
namespace {

// The order of n rows: position i takes one of those that are left, as TensorFlow draws it.
std::vector<int64_t> RandomOrder(int64_t n, Philox generator) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  SingleNumbers next(&generator);
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(order[i], order[i + next() % static_cast<uint32_t>(n - i)]);
  }
  return order;
}

void CopyRows(const Tensor& from, const std::vector<int64_t>& order, Tensor* to) {
  const size_t row = from.bytes() / order.size();
  for (size_t i = 0; i < order.size(); ++i) {
    std::memcpy(static_cast<char*>(to->raw()) + i * row,
                static_cast<const char*>(from.raw()) + static_cast<size_t>(order[i]) * row, row);
  }
}

template <typename T>
void CopyRowsOf(const Tensor& from, const std::vector<int64_t>& order, Tensor* to) {
  const int64_t row = from.num_elements() / static_cast<int64_t>(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    std::copy_n(from.data<T>() + order[i] * row, row,
                to->data<T>() + static_cast<int64_t>(i) * row);
  }
}

}  // namespace

absl::Status ShuffleRows(KernelContext& context, absl::FunctionRef<Philox(uint64_t)> generator) {
  const Tensor& value = context.input(0);
  if (value.num_elements() <= 1 || value.dim(0) <= 1) {
    context.set_output(0, value);
    return absl::OkStatus();
  }
  const int64_t rows = value.dim(0);
  const auto numbers = static_cast<uint64_t>(rows - 1);
  const std::vector<int64_t> order =
      RandomOrder(rows, generator((numbers + Philox::kResults - 1) / Philox::kResults));
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, value.shape(), &out));
  switch (value.dtype()) {
    case DT_STRING:
      CopyRowsOf<std::string>(value, order, out);
      break;
    case DT_RESOURCE:
      CopyRowsOf<ResourceHandle>(value, order, out);
      break;
    case DT_VARIANT:
      CopyRowsOf<Variant>(value, order, out);
      break;
    default:
      CopyRows(value, order, out);
  }
  return absl::OkStatus();
}

}  // namespace sluice::random
