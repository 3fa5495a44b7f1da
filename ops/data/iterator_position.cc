#include "ops/data/iterator_position.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/format/proto/tensor.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr const char* kTypeName = "sluice::IteratorPosition";

}  // namespace

void SeedLog::Use(const std::shared_ptr<ShuffleSeeds>& seeds) {
  ScopedLock lock(&mutex_);
  if (std::find(used_.begin(), used_.end(), seeds) != used_.end()) return;
  used_.push_back(seeds);
  std::vector<ShuffleSeeds::State>& states = states_[seeds->name()];
  const auto first = first_.find(seeds->name());
  if (first != first_.end() && states.size() < first->second.size()) {
    seeds->SetState(first->second[states.size()]);
  }
  states.push_back(seeds->state());
}

SeedStates SeedLog::states() const {
  ScopedLock lock(&mutex_);
  return states_;
}

// The text has a line with the number of elements, and for each generator a line with its state and
// name.
Tensor IteratorPosition::ToTensor() const {
  std::string text = StrCat(taken, "\n");
  for (const auto& [name, states] : seeds) {
    for (const ShuffleSeeds::State& s : states) {
      StrAppend(&text, s.seed, " ", s.seed2, " ", s.epochs, " ", name, "\n");
    }
  }
  pb::VariantTensorDataProto proto;
  proto.set_type_name(kTypeName);
  proto.set_metadata(std::move(text));
  return Tensor::Scalar(
      Variant(std::make_shared<SerializedVariant>(kTypeName, proto.SerializeAsString())));
}

absl::StatusOr<IteratorPosition> IteratorPosition::FromTensor(const Tensor& tensor) {
  const auto* variant = tensor.dtype() == DT_VARIANT && tensor.shape().IsScalar()
                            ? tensor.scalar<Variant>().get<SerializedVariant>()
                            : nullptr;
  pb::VariantTensorDataProto proto;
  SLUICE_INVALID_IF(variant == nullptr || variant->TypeName() != kTypeName ||
                        !proto.ParseFromString(variant->bytes()),
                    "expected a scalar variant from SerializeIterator, got ",
                    tensor.dtype() == DT_VARIANT && tensor.shape().IsScalar()
                        ? StrCat("a '", tensor.scalar<Variant>().TypeName(), "'")
                        : StrCat(DataTypeName(tensor.dtype()), tensor.shape().ToString()));
  const std::vector<std::string> lines = absl::StrSplit(proto.metadata(), '\n', absl::SkipEmpty());
  IteratorPosition position;
  bool is_valid = !lines.empty() && absl::SimpleAtoi(lines[0], &position.taken);
  for (size_t i = 1; i < lines.size() && is_valid; ++i) {
    const std::vector<std::string> words = absl::StrSplit(lines[i], absl::MaxSplits(' ', 3));
    ShuffleSeeds::State s;
    is_valid = words.size() == 4 && absl::SimpleAtoi(words[0], &s.seed) &&
               absl::SimpleAtoi(words[1], &s.seed2) && absl::SimpleAtoi(words[2], &s.epochs) &&
               s.epochs >= 0;
    if (is_valid) position.seeds[words[3]].push_back(s);
  }
  SLUICE_INVALID_IF(!is_valid || position.taken < 0, "the state of the iterator is damaged");
  return position;
}

}  // namespace sluice
