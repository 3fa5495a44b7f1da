// Arbitrary bytes as an Example become tensors or an error, for every kind of feature.

#include <cstdint>
#include <string>

#include "graph/format/proto/example.pb.h"
#include "ops/io/csv.h"
#include "ops/io/parse_examples.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  SplitCsv(bytes, {}).status().IgnoreError();
  SplitCsv(bytes, {.delimiter = 'a', .use_quotes = false}).status().IgnoreError();
  pb::Example example;
  if (!example.ParseFromString(bytes)) return 0;
  FeatureSpecs specs;
  for (const char* key : {"a", "b", "c", "d"}) {
    for (DataType type : {DT_FLOAT, DT_INT64, DT_STRING}) {
      specs = {};
      specs.sparse.push_back({.key = key, .dtype = type});
      specs.ragged.push_back({.key = key, .dtype = type, .split_type = DT_INT32});
      Tensor padding(type, TensorShape({1}));
      specs.dense.push_back(
          {.key = key, .dtype = type, .shape = PartialShape({-1}), .default_value = padding});
      specs.dense.push_back(
          {.key = key, .dtype = type, .shape = PartialShape({1}), .default_value = padding});
      const pb::Features* features[] = {&example.features(), &example.features()};
      for (BatchForm form : {BatchForm::kBatch, BatchForm::kSingle}) {
        const size_t n = form == BatchForm::kBatch ? 2 : 1;
        ParseFeatures(absl::MakeConstSpan(features, n), {}, specs, form, Heap())
            .status()
            .IgnoreError();
      }
    }
  }
  return 0;
}
