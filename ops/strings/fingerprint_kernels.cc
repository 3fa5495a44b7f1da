// The kernel of Fingerprint.
#include <cstring>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/hash.h"

namespace sluice {
namespace {

std::string_view BytesOf(const void* from, size_t length) {
  return {static_cast<const char*>(from), length};
}

// Returns the fingerprint of a row. If it has several strings, this is the fingerprint of their
// fingerprints.
uint64_t FingerprintOf(const std::string* row, int64_t length) {
  if (length == 1) return Fingerprint64(row[0]);
  std::vector<uint64_t> all(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) all[static_cast<size_t>(i)] = Fingerprint64(row[i]);
  return Fingerprint64(BytesOf(all.data(), all.size() * sizeof(uint64_t)));
}

absl::Status Fingerprint(KernelContext& c) {
  const Tensor &data = c.input(0), &method = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(method, 0, "`method` should be a scalar string: "));
  SLUICE_INVALID_IF(method.scalar<std::string>() != "farmhash64",
                    "Unsupported fingerprint method: ", method.scalar<std::string>());
  SLUICE_INVALID_IF(data.rank() == 0,
                    "`data` should have at least one dimension: ", data.shape().ToString());
  const int64_t rows = data.dim(0), length = rows == 0 ? 0 : data.num_elements() / rows;
  const size_t bytes = static_cast<size_t>(length) * DataTypeSize(data.dtype());
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({rows, 8}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  c.ParallelFor(rows, 20 + 0.3 * static_cast<double>(bytes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t found =
          data.dtype() == DT_STRING
              ? FingerprintOf(data.data<std::string>() + i * length, length)
              : Fingerprint64(BytesOf(
                    static_cast<const char*>(data.raw()) + i * static_cast<int64_t>(bytes), bytes));
      std::memcpy(out->data<uint8_t>() + 8 * i, &found, sizeof(found));
    }
  });
  return absl::OkStatus();
}
KERNEL(Fingerprint, FunctionKernel<Fingerprint>,
       {"T",
        RealTypes() | ComplexTypes() |
            TypeSet{DT_BOOL, DT_STRING, DT_QINT8, DT_QUINT8, DT_QINT16, DT_QUINT16, DT_QINT32}});

}  // namespace
}  // namespace sluice
