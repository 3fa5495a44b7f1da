#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/checkpoint/bundle.h"

namespace sluice {
namespace {

// Returns the first `count` lines of a vocabulary, or all lines if `count` is -1. INVALID_ARGUMENT
// if the file has fewer lines. OUT_OF_RANGE if it has none.
absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& path, int64_t count) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  std::vector<std::string> lines;
  for (size_t at = 0;
       at < text.size() && (count < 0 || static_cast<int64_t>(lines.size()) < count);) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const size_t length = end > at && text[end - 1] == '\r' ? end - at - 1 : end - at;
    SLUICE_INVALID_IF(length == 0, "Invalid content in ", path, ": empty line found at position ",
                      at, ".");
    lines.push_back(text.substr(at, length));
    at = end + 1;
  }
  SLUICE_INVALID_IF(count >= 0 && static_cast<int64_t>(lines.size()) < count,
                    "Invalid vocab_size in ", path, ": expected ", count, " but got ",
                    lines.size());
  if (lines.empty()) {
    return absl::OutOfRangeError(
        count == 0 ? StrCat("Finished reading 0 of lines from ", path)
                   : StrCat("Read less bytes than requested: ", path, " is empty"));
  }
  return lines;
}

absl::Status GenerateVocabRemapping(KernelContext& c, Attr<int64_t, "new_vocab_offset"> offset,
                                    Attr<int64_t, "num_new_vocab"> count,
                                    Attr<int64_t, "old_vocab_size"> old_size) {
  for (int i = 0; i < 2; ++i) {
    const char* name = i == 0 ? "new_vocab_file" : "old_vocab_file";
    SLUICE_INVALID_IF(c.input(i).rank() != 0, name, " should be a single string, but got ",
                      c.input(i).shape().ToString());
    SLUICE_INVALID_IF(c.input(i).scalar<std::string>().empty(), i == 0 ? "new" : "old",
                      " vocab filename cannot be empty.");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                          ReadLines(c.input(0).scalar<std::string>(), -1));
  const int64_t last = SaturatedSum(offset, count);
  SLUICE_INVALID_IF(last > static_cast<int64_t>(lines.size()),
                    "lookup table size must be larger than last new vocab entry's line, ", "got ",
                    lines.size(), " lines for entries up to ", last);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> old_lines,
                          ReadLines(c.input(1).scalar<std::string>(), old_size));
  absl::flat_hash_map<std::string, int64_t> place;
  for (size_t i = 0; i < old_lines.size(); ++i) {
    if (place.emplace(old_lines[i], static_cast<int64_t>(i)).second) continue;
    return absl::FailedPreconditionError(StrCat("HashTable has different value for same key. Key ",
                                                old_lines[i], " has ", place[old_lines[i]],
                                                " and trying to add value ", i));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * remapping, c.AllocateOutput(0, {count}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * present, c.AllocateOutput(1, {}));
  int32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = place.find(lines[static_cast<size_t>(offset + i)]);
    remapping->data<int64_t>()[i] = at == place.end() ? -1 : at->second;
    found += at == place.end() ? 0 : 1;
  }
  present->scalar<int32_t>() = found;
  return absl::OkStatus();
}
KERNEL(GenerateVocabRemapping, FunctionKernel<GenerateVocabRemapping>);

class LoadAndRemapMatrixKernel : public Kernel {
 public:
  explicit LoadAndRemapMatrixKernel(KernelInit& init)
      : rows_(init.attr<int64_t>("num_rows")),
        columns_(init.attr<int64_t>("num_cols")),
        rows_max_(init.attr<int64_t>("max_rows_in_memory")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const Remapping rows,
                            Remapping::Of(c.input(2), "row_remapping", rows_));
    Remapping columns;
    const bool remaps_columns = c.input(3).num_elements() > 0;
    if (remaps_columns) {
      SLUICE_ASSIGN_OR_RETURN(columns, Remapping::Of(c.input(3), "col_remapping", columns_));
    }
    for (int i = 0; i < 2; ++i) {
      if (c.input(i).num_elements() == 1) continue;
      return InvalidArgument(i == 0 ? "The `ckpt_path`" : "The `old_tensor_name`",
                             " tensor must have exactly one element, got tensor of shape ",
                             c.input(i).shape().ToString());
    }
    const std::string& name = c.input(1).scalar<std::string>();
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader,
                            BundleReader::Open(c.input(0).scalar<std::string>()));
    SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader->Find(name));
    SLUICE_RETURN_IF_ERROR(CheckEntry(name, entry, remaps_columns));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {rows_, columns_}));
    std::fill_n(out->data<float>(), out->num_elements(), 0.0f);
    const int64_t step = rows_max_ > 0 ? rows_max_ : std::max<int64_t>(rows.last - rows.first, 1);
    for (int64_t begin = rows.first, count; begin < rows.last; begin += count) {
      count = std::min(step, rows.last - begin);
      SLUICE_ASSIGN_OR_RETURN(
          const Tensor part,
          reader->ReadSlice(name, TensorSlice({{.start = begin, .length = count}, {}})));
      CopyRows(part, begin, rows, remaps_columns ? &columns : nullptr, out);
    }
    return FillRest(c.input(2), remaps_columns ? &c.input(3) : nullptr, c.input(4), out);
  }

 private:
  struct Remapping {
    static absl::StatusOr<Remapping> Of(const Tensor& t, const char* name, int64_t size) {
      SLUICE_INVALID_IF(t.rank() != 1, "The `", name,
                        "` tensor must be 1-D, got a tensor of shape ", t.shape().ToString());
      SLUICE_INVALID_IF(t.num_elements() != size, "Size of ", name, " is ", t.num_elements(),
                        " instead of being equal to ", size);
      Remapping r;
      for (int64_t i = 0; i < size; ++i) {
        const int64_t old = t.data<int64_t>()[i];
        if (old < 0) continue;
        const auto [at, is_new] = r.new_of.emplace(old, i);
        if (!is_new) {
          return absl::UnimplementedError(StrCat("Old ID ", old, " is mapped to both new ID ",
                                                 at->second, " and ", i,
                                                 ", which is not supported."));
        }
        r.first = r.new_of.size() == 1 ? old : std::min(r.first, old);
        r.last = std::max(r.last, SaturatedSum(old, 1));
      }
      return r;
    }
    absl::flat_hash_map<int64_t, int64_t> new_of;  // new index by old index
    int64_t first = 0, last = 0;                   // the old indices are in [first, last)
  };

  absl::Status CheckEntry(const std::string& name, const BundleReader::Entry& entry,
                          bool remaps_columns) const {
    SLUICE_INVALID_IF(entry.dtype != DT_FLOAT, "Tensor ", name, " has invalid type ",
                      DataTypeName(entry.dtype), " instead of expected type float");
    SLUICE_INVALID_IF(entry.shape.rank() != 2, "Tensor ", name, " has shape ",
                      entry.shape.ToString(), " of invalid rank ", entry.shape.rank(),
                      " instead of expected shape of rank 2.");
    SLUICE_INVALID_IF(!remaps_columns && entry.shape.dim(1) != columns_, "Tensor ", name,
                      " has shape ", entry.shape.ToString(),
                      ", where the size of its 2nd dimension is ", entry.shape.dim(1),
                      " instead of being equal to num_cols=", columns_);
    return absl::OkStatus();
  }

  void CopyRows(const Tensor& part, int64_t begin, const Remapping& rows, const Remapping* columns,
                Tensor* out) const {
    for (int64_t i = 0; i < part.dim(0); ++i) {
      const auto row = rows.new_of.find(begin + i);
      if (row == rows.new_of.end()) continue;
      const float* from = part.data<float>() + i * part.dim(1);
      float* to = out->data<float>() + row->second * columns_;
      if (columns == nullptr) {
        std::copy_n(from, columns_, to);
        continue;
      }
      for (const auto& [old, place] : columns->new_of) {
        if (old < part.dim(1)) to[place] = from[old];
      }
    }
  }

  absl::Status FillRest(const Tensor& rows, const Tensor* columns, const Tensor& values,
                        Tensor* out) const {
    int64_t used = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < columns_; ++j) {
        const bool has_column = columns == nullptr || columns->data<int64_t>()[j] >= 0;
        if (rows.data<int64_t>()[i] >= 0 && has_column) continue;
        SLUICE_INVALID_IF(used == values.num_elements(), "initializing_values contained ",
                          values.num_elements(), " elements, but more missing values remain.");
        out->data<float>()[i * columns_ + j] = values.data<float>()[used++];
      }
    }
    if (used == values.num_elements()) return absl::OkStatus();
    return InvalidArgument("initializing_values contained ", values.num_elements(),
                           " elements, but only ", used,
                           " elements were used to fill in missing values.");
  }

  const int64_t rows_, columns_, rows_max_;
};
KERNEL(LoadAndRemapMatrix, LoadAndRemapMatrixKernel);

}  // namespace
}  // namespace sluice
