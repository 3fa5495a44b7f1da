// Kernels that split strings, and the kernel that joins neighbouring strings (n-grams).
#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

using Parts = std::vector<std::string_view>;

// Splits at any character of `delimiters`, or at every byte if there are none.
Parts SplitAny(std::string_view s, std::string_view delimiters, bool skip_empty) {
  Parts parts;
  if (delimiters.empty()) {
    for (size_t i = 0; i < s.size(); ++i) parts.push_back(s.substr(i, 1));
    return parts;
  }
  for (size_t at = 0; !s.empty() && at <= s.size();) {
    const size_t end = std::min(s.find_first_of(delimiters, at), s.size());
    if (!skip_empty || end > at) parts.push_back(s.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Splits at sequences of blanks, like Python's str.split().
Parts SplitBlanks(std::string_view s, int64_t most) {
  const auto is_blank = [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); };
  const auto skip = [&] {
    while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  };
  Parts parts;
  skip();
  while (!s.empty()) {
    const size_t end = std::find_if(s.begin(), s.end(), is_blank) - s.begin();
    parts.push_back(s.substr(0, end));
    s.remove_prefix(end);
    skip();
    if (static_cast<int64_t>(parts.size()) == most) {
      parts.push_back(s);  // as in TensorFlow, may be empty
      break;
    }
  }
  return parts;
}

Parts SplitAt(std::string_view s, std::string_view separator, int64_t most) {
  Parts parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t end = s.find(separator);
    if (end == std::string_view::npos) break;
    parts.push_back(s.substr(0, end));
    s.remove_prefix(end + separator.size());
  }
  parts.push_back(s);
  return parts;
}

absl::Status SetParts(KernelContext& c, const std::vector<Parts>& rows) {
  int64_t total = 0, longest = 0;
  for (const Parts& row : rows) {
    total += static_cast<int64_t>(row.size());
    longest = std::max(longest, static_cast<int64_t>(row.size()));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {total, 2}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {total}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {2}));
  shape->data<int64_t>()[0] = static_cast<int64_t>(rows.size());
  shape->data<int64_t>()[1] = longest;
  int64_t k = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows[i].size(); ++j, ++k) {
      indices->data<int64_t>()[2 * k] = static_cast<int64_t>(i);
      indices->data<int64_t>()[2 * k + 1] = static_cast<int64_t>(j);
      values->data<std::string>()[k] = std::string(rows[i][j]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSplit(const KernelContext& c, const char* separator) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 1, "input must be a vector, got shape: "));
  SLUICE_INVALID_IF(!c.input(1).shape().IsScalar(), separator,
                    " must be a scalar, got shape: ", c.input(1).shape().ToString());
  return absl::OkStatus();
}

absl::Status StringSplit(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckSplit(c, "delimiter"));
  const bool skip_empty = c.node().AttrOr<bool>("skip_empty", true);
  std::vector<Parts> rows;
  for (const std::string& s : c.input(0).flat<std::string>()) {
    rows.push_back(SplitAny(s, c.input(1).scalar<std::string>(), skip_empty));
  }
  return SetParts(c, rows);
}
KERNEL(StringSplit, FunctionKernel<StringSplit>);

absl::Status StringSplitV2(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckSplit(c, "sep"));
  const auto most = c.node().AttrOr<int64_t>("maxsplit", -1);
  const std::string& separator = c.input(1).scalar<std::string>();
  std::vector<Parts> rows;
  for (const std::string& s : c.input(0).flat<std::string>()) {
    rows.push_back(most == 0           ? Parts{s}
                   : separator.empty() ? SplitBlanks(s, most)
                                       : SplitAt(s, separator, most));
  }
  return SetParts(c, rows);
}
KERNEL(StringSplitV2, FunctionKernel<StringSplitV2>);

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool preserve_short_sequences;

  int64_t PadOf(int64_t width) const {
    return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1);
  }
  int64_t CountOf(int64_t length, int64_t width) const {
    return std::max<int64_t>(0, length + 2 * PadOf(width) - width + 1);
  }
  // Checks the n-grams of `width` parts in a row of `length` parts with `pad` pads at both ends. As
  // in TensorFlow, their number must fit into int32. The size of the padding is limited, too.
  absl::Status CheckCount(int64_t length, int64_t width, int64_t pad) const {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    SLUICE_INVALID_IF(pad > kMost / 2 - length,
                      "Pad width could lead to integer overflow, got pad_width = ", pad);
    const auto piece =
        static_cast<int64_t>(std::max(left_pad.size(), right_pad.size()) + separator.size()) + 1;
    const int64_t count = std::max<int64_t>(0, length + 2 * pad - width + 1);
    // Counts the n-grams that begin or end in the padding.
    const int64_t padded = std::min(count, 2 * pad);
    const int64_t padding =
        SaturatedProduct(SaturatedProduct(padded, std::min(width, 2 * pad)), piece);
    constexpr int64_t kMostPadding = int64_t{1} << 30;
    if (padding < kMostPadding) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        StrCat("expected less than ", kMostPadding, " bytes of padding, got ", padded,
               " n-grams of ", width, " with up to ", 2 * pad, " pads of ", piece, " bytes each"));
  }
  // Checks all n-grams of a row.
  absl::Status CheckRow(int64_t length) const {
    bool any = false;
    for (int64_t width : widths) {
      SLUICE_RETURN_IF_ERROR(CheckCount(length, width, PadOf(width)));
      any = any || CountOf(length, width) > 0;
    }
    if (any || !preserve_short_sequences || length == 0 || pad_width < 0) return absl::OkStatus();
    return CheckCount(length, SaturatedSum(length, SaturatedProduct(2, pad_width)), pad_width);
  }
  // Joins `width` parts of a row that has `pad` pads at both ends, from part `begin` on.
  std::string Join(absl::Span<const std::string> row, int64_t pad, int64_t begin,
                   int64_t width) const {
    std::string text;
    for (int64_t i = begin; i < begin + width; ++i) {
      if (i > begin) text += separator;
      const int64_t at = i - pad;
      const auto length = static_cast<int64_t>(row.size());
      text += at < 0 ? left_pad : at < length ? row[static_cast<size_t>(at)] : right_pad;
    }
    return text;
  }
  void AppendRow(absl::Span<const std::string> row, std::vector<std::string>* ngrams) const {
    const size_t before = ngrams->size();
    const auto length = static_cast<int64_t>(row.size());
    for (int64_t width : widths) {
      const int64_t count = CountOf(length, width);
      for (int64_t i = 0; i < count; ++i) ngrams->push_back(Join(row, PadOf(width), i, width));
    }
    if (preserve_short_sequences && ngrams->size() == before && length > 0 && pad_width >= 0) {
      ngrams->push_back(Join(row, pad_width, 0, length + 2 * pad_width));
    }
  }
};

template <typename T>
class StringNGramsKernel final : public Kernel {
 public:
  explicit StringNGramsKernel(KernelInit& init)
      : ngrams_{.separator = init.attr<std::string>("separator"),
                .left_pad = init.attr<std::string>("left_pad"),
                .right_pad = init.attr<std::string>("right_pad"),
                .widths = init.attr<std::vector<int64_t>>("ngram_widths"),
                .pad_width = init.attr<int64_t>("pad_width"),
                .preserve_short_sequences = init.attr<bool>("preserve_short_sequences")} {}

  absl::Status Compute(KernelContext& c) override {
    for (int64_t width : ngrams_.widths) {
      SLUICE_INVALID_IF(width <= 0, "ngram_widths must contain positive values");
    }
    const auto data = c.input(0).flat<std::string>();
    const auto splits = c.input(1).flat<T>();
    SLUICE_RETURN_IF_ERROR(CheckSplits(data.size(), splits));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_splits, c.AllocateOutput(1, c.input(1).shape()));
    std::vector<std::string> ngrams;
    for (size_t i = 0; i < splits.size(); ++i) {
      if (i > 0) {
        const auto begin = static_cast<size_t>(splits[i - 1]);
        SLUICE_RETURN_IF_ERROR(ngrams_.CheckRow(static_cast<int64_t>(splits[i] - splits[i - 1])));
        ngrams_.AppendRow(data.subspan(begin, static_cast<size_t>(splits[i]) - begin), &ngrams);
      }
      out_splits->data<T>()[i] = static_cast<T>(ngrams.size());
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                            c.AllocateOutput(0, {static_cast<int64_t>(ngrams.size())}));
    std::move(ngrams.begin(), ngrams.end(), out->data<std::string>());
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckSplits(size_t size, absl::Span<const T> splits) {
    if (splits.empty()) return absl::OkStatus();
    SLUICE_INVALID_IF(splits[0] != 0, "First split value must be 0, got ", splits[0]);
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] >= splits[i - 1] && static_cast<size_t>(splits[i]) <= size) continue;
      return InvalidArgument("Invalid split value ", splits[i], ", must be in [", splits[i - 1],
                             ", ", size, "]");
    }
    if (static_cast<size_t>(splits.back()) == size) return absl::OkStatus();
    return InvalidArgument("Last split value must be data size. Expected ", size, ", got ",
                           splits.back());
  }
  const NGrams ngrams_;
};
KERNELS(StringNGrams, "Tsplits", StringNGramsKernel, IndexList);

}  // namespace
}  // namespace sluice
