// Kernels that format tensors as text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "absl/strings/escaping.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/strings/pieces.h"

namespace sluice {
namespace {

// The parts of a printf format for a number.
struct NumberFormat {
  int width = -1;
  int precision = -1;
  char fill = '\0';
  char style = 'f';  // f, e, g

  std::string Flags() const {
    std::string flags = "%";
    if (fill != '\0') flags.push_back(fill);
    if (width > -1) StrAppend(&flags, width);
    if (precision > -1) StrAppend(&flags, ".", precision);
    return flags;
  }
};

std::string Printed(const std::string& format, auto value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string text(static_cast<size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

class AsStringKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto type = init.attr<DataType>("T");
    const bool scientific = init.attr<bool>("scientific");
    const bool shortest = init.attr<bool>("shortest");
    const std::string fill = init.attr<std::string>("fill");
    NumberFormat format;
    // Limits the length of a formatted number.
    constexpr int64_t kMost = int64_t{1} << 20;
    const int64_t width = init.attr<int64_t>("width"), precision = init.attr<int64_t>("precision");
    SLUICE_INVALID_IF(width > kMost || precision > kMost, "width and precision must be at most ",
                      kMost, ", got ", width, " and ", precision);
    // A negative value means that none is requested.
    format.width = static_cast<int>(std::max<int64_t>(width, -1));
    format.precision = static_cast<int>(std::max<int64_t>(precision, -1));
    const bool is_floating = IsFloating(type) || IsComplex(type);
    SLUICE_INVALID_IF(!is_floating && (scientific || shortest),
                      "scientific and shortest format not supported for datatype ",
                      DataTypeName(type));
    SLUICE_INVALID_IF(!is_floating && format.precision >= 0,
                      "precision not supported for datatype ", DataTypeName(type));
    SLUICE_INVALID_IF(scientific && shortest,
                      "Cannot select both scientific and shortest notation");
    SLUICE_INVALID_IF(fill.size() > 1, "Fill string must be one or fewer characters");
    if (!fill.empty()) {
      SLUICE_INVALID_IF(fill.find_first_of(" +-0#") == std::string::npos || fill == "#",
                        "Fill argument not supported: \"", fill, "\"");
      format.fill = fill[0];
    }
    format.style = scientific ? 'e' : shortest ? 'g' : 'f';
    return std::unique_ptr<Kernel>(new AsStringKernel(format));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& input = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, input.shape()));
    for (int64_t i = 0; i < input.num_elements(); ++i) {
      out->data<std::string>()[i] = Text(input, i);
    }
    return absl::OkStatus();
  }

 private:
  explicit AsStringKernel(NumberFormat format) : format_(format) {}

  std::string Floating(double value) const {
    return Printed(format_.Flags() + format_.style, value);
  }
  std::string Complex(double real, double imaginary) const {
    return StrCat("(", Floating(real), ",", Floating(imaginary), ")");
  }
  std::string Integer(long long value) const { return Printed(format_.Flags() + "lld", value); }
  std::string Unsigned(unsigned long long value) const {
    return Printed(format_.Flags() + "llu", value);
  }

  // Pads like "%5s" and "%-5s". Unlike printf, it also accepts text with zero bytes.
  std::string Padded(const std::string& text) const {
    const auto missing = static_cast<size_t>(
        std::max<int64_t>(0, format_.width - static_cast<int64_t>(text.size())));
    const std::string blanks(missing, ' ');
    return format_.fill == '-' ? text + blanks : blanks + text;
  }

  std::string Text(const Tensor& t, int64_t i) const {
    switch (t.dtype()) {
      case DT_FLOAT:
        return Floating(t.data<float>()[i]);
      case DT_DOUBLE:
        return Floating(t.data<double>()[i]);
      case DT_HALF:
        return Floating(static_cast<float>(t.data<half>()[i]));
      case DT_BFLOAT16:
        return Floating(static_cast<float>(t.data<bfloat16>()[i]));
      case DT_COMPLEX64:
        return Complex(t.data<complex64>()[i].real(), t.data<complex64>()[i].imag());
      case DT_COMPLEX128:
        return Complex(t.data<complex128>()[i].real(), t.data<complex128>()[i].imag());
      case DT_INT8:
        return Integer(t.data<int8_t>()[i]);
      case DT_INT16:
        return Integer(t.data<int16_t>()[i]);
      case DT_INT32:
        return Integer(t.data<int32_t>()[i]);
      case DT_INT64:
        return Integer(t.data<int64_t>()[i]);
      case DT_UINT8:
        return Unsigned(t.data<uint8_t>()[i]);
      case DT_UINT16:
        return Unsigned(t.data<uint16_t>()[i]);
      case DT_UINT32:
        return Unsigned(t.data<uint32_t>()[i]);
      case DT_UINT64:
        return Unsigned(t.data<uint64_t>()[i]);
      case DT_BOOL:
        return t.data<bool>()[i] ? "true" : "false";
      default:
        return Padded(t.data<std::string>()[i]);
    }
  }

  const NumberFormat format_;
};
KERNEL(AsString, AsStringKernel,
       {"T", RealTypes() | ComplexTypes() | TypeSet(DT_BOOL) | TypeSet(DT_STRING)});

// Formats a number as TensorFlow does: with the number of digits that every text keeps when it is
// read and written again. If they do not identify the value, uses as many digits as identify any
// value.
template <typename T>
std::string Shortest(T value) {
  constexpr int kDigits = std::numeric_limits<T>::digits10;
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", kDigits, static_cast<double>(value));
  const double read = std::strtod(text, nullptr);
  if (static_cast<T>(read) != value && !std::isnan(value)) {
    std::snprintf(text, sizeof text, "%.*g", kDigits + (sizeof(T) == 4 ? 3 : 2),
                  static_cast<double>(value));
  }
  return text;
}

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_FLOAT:
      return Shortest(t.data<float>()[i]);
    case DT_DOUBLE:
      return Shortest(t.data<double>()[i]);
    case DT_HALF:
      return Shortest(static_cast<float>(t.data<half>()[i]));
    case DT_BFLOAT16:
      return Shortest(static_cast<float>(t.data<bfloat16>()[i]));
    case DT_STRING:
      return StrCat("\"", absl::CEscape(t.data<std::string>()[i]), "\"");
    default:
      break;
  }
  if (IsComplex(t.dtype()) || t.dtype() == DT_RESOURCE || t.dtype() == DT_VARIANT) return "?";
  return t.Reshaped({t.num_elements()}).SliceRows(i, i + 1).SummarizeValues(1);
}

// Appends the part of `t` that begins at element `at` and has the dimensions from `dim` on. Shows
// only `ends` elements at each end of a dimension.
void AppendNested(const Tensor& t, int64_t ends, int dim, int64_t at, std::string* text) {
  if (dim == t.rank()) {
    text->append(ElementText(t, at));
    return;
  }
  const auto space = [&] {
    if (dim == t.rank() - 1) {
      text->push_back(' ');
    } else {
      text->append(static_cast<size_t>(t.rank() - dim - 1), '\n');
      text->append(static_cast<size_t>(dim) + 1, ' ');
    }
  };
  // If the tensor is empty, the product of its sizes may overflow.
  int64_t row = t.num_elements() == 0 ? 0 : 1;
  for (int d = dim + 1; d < t.rank() && row != 0; ++d) row *= t.dim(d);
  const int64_t size = t.dim(dim);
  text->push_back('[');
  for (int64_t i = 0; i < std::min(ends, size); ++i) {
    if (i > 0) space();
    AppendNested(t, ends, dim + 1, at + i * row, text);
  }
  if (size - ends > ends) {
    space();
    text->append("...");
  }
  for (int64_t i = std::max(ends, size - ends); i < size; ++i) {
    space();
    AppendNested(t, ends, dim + 1, at + i * row, text);
  }
  text->push_back(']');
}

// Returns how many brackets and elements are printed for `t`. This number is limited for tensors
// without elements, which may have any number of brackets.
int64_t ShownParts(const Tensor& t, int64_t ends) {
  int64_t parts = 1, all = 1;
  for (int64_t size : t.shape().dims()) {
    parts = SaturatedProduct(parts, std::min(size, SaturatedProduct(2, ends)));
    all = SaturatedSum(all, parts);
  }
  return all;
}

class StringFormatKernel final : public Kernel {
 public:
  explicit StringFormatKernel(KernelInit& init)
      : pieces_(FormatPieces(init.attr<std::string>("template"),
                             init.attr<std::string>("placeholder"))),
        summarize_(init.attr<int64_t>("summarize")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
    std::string& text = out->scalar<std::string>();
    text = pieces_[0];
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& t = c.input(i);
      const int64_t ends = summarize_ < 0 ? t.num_elements() : summarize_;
      constexpr int64_t kMostOfNothing = int64_t{1} << 24;
      SLUICE_INVALID_IF(t.num_elements() == 0 && ShownParts(t, ends) > kMostOfNothing,
                        "expected at most ", kMostOfNothing,
                        " parts of an empty tensor to show, got shape ", t.shape().ToString());
      AppendNested(t, ends, 0, 0, &text);
      text += pieces_[static_cast<size_t>(i) + 1];
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<std::string> pieces_;
  const int64_t summarize_;
};
KERNEL(StringFormat, StringFormatKernel);

}  // namespace
}  // namespace sluice
