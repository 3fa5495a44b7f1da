#include "benchmarks/graphs/feed.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {
namespace {

double Draw(uint64_t feed, uint64_t i) {
  uint64_t z = (((feed + 1) << 32) + i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

struct Law {
  std::string name;
  double argument = 0;
};

double ValueOf(const Law& law, uint64_t feed, uint64_t i) {
  if (law.name == "const") return law.argument;
  if (law.name == "uniform") return std::floor(Draw(feed, i) * law.argument);
  if (law.name == "zipf") {
    const double rank = std::floor(std::exp(Draw(feed, i) * std::log(law.argument + 1))) - 1;
    return std::min(law.argument - 1, rank);
  }
  if (law.name == "onehot") {
    const auto width = static_cast<uint64_t>(law.argument);
    return i % width == std::floor(Draw(feed, i / width) * law.argument) ? 1 : 0;
  }
  return std::sqrt(-2 * std::log(1 - Draw(feed, 2 * i))) *
         std::cos(2 * std::numbers::pi * Draw(feed, 2 * i + 1));
}

template <typename T>
void FillWith(const Law& law, uint64_t feed, Tensor& tensor) {
  T* values = tensor.data<T>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values[i] = static_cast<T>(ValueOf(law, feed, static_cast<uint64_t>(i)));
  }
}

}  // namespace

absl::StatusOr<Tensor> MakeFeed(std::string_view description, uint64_t index) {
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(description), ':');
  if (parts.size() != 3) {
    return InvalidArgument("feed: expected DTYPE:SHAPE:LAW, got '", description, "'");
  }
  TensorShape shape;
  for (const auto& text : absl::StrSplit(parts[1], 'x', absl::SkipEmpty())) {
    int64_t size;
    if (!absl::SimpleAtoi(text, &size) || size < 0) {
      return InvalidArgument("feed: expected a size, got '", ToStd(text), "'");
    }
    shape.AddDim(size);
  }
  Law law{parts[2].substr(0, parts[2].find('('))};
  if (const size_t open = parts[2].find('('); open != std::string::npos) {
    law.argument = std::stod(parts[2].substr(open + 1));
  }
  const DataType type = parts[0] == "f32" ? DT_FLOAT : parts[0] == "i32" ? DT_INT32 : DT_INT64;
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(Heap(), type, shape));
  if (type == DT_FLOAT) FillWith<float>(law, index, tensor);
  if (type == DT_INT32) FillWith<int32_t>(law, index, tensor);
  if (type == DT_INT64) FillWith<int64_t>(law, index, tensor);
  return tensor;
}

}  // namespace sluice
