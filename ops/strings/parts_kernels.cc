// Kernels that compute a function of each string.
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "executor/kernel/context.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/map_elements.h"
#include "ops/strings/utf8.h"

namespace sluice {
namespace {

absl::Status StringStrip(KernelContext& c) {
  return MapElements<std::string>(
      c, [](const std::string& s) { return std::string(absl::StripAsciiWhitespace(s)); });
}
KERNEL(StringStrip, FunctionKernel<StringStrip>);

absl::Status StringLength(KernelContext& c) {
  const bool characters = c.node().AttrOr<std::string>("unit", "BYTE") == "UTF8_CHAR";
  return MapElements<int32_t>(c, [&](const std::string& s) {
    return static_cast<int32_t>(characters ? Utf8Length(s) : static_cast<int64_t>(s.size()));
  });
}
KERNEL(StringLength, FunctionKernel<StringLength>);

enum class Case { kLower, kUpper };

// Converts UTF-8 text to upper or lower case. Replaces invalid bytes by the replacement character.
template <Case kCase>
std::string ToCase(const std::string& text) {
  icu::UnicodeString unicode = icu::UnicodeString::fromUTF8(text);
  if (kCase == Case::kLower) {
    unicode.toLower(icu::Locale::getRoot());
  } else {
    unicode.toUpper(icu::Locale::getRoot());
  }
  std::string result;
  unicode.toUTF8String(result);
  return result;
}

absl::StatusOr<bool> EncodesUtf8(KernelInit& init) {
  const auto encoding = init.attr<std::string>("encoding");
  SLUICE_INVALID_IF(!encoding.empty() && encoding != "utf-8",
                    "only utf-8 or '' (no encoding) is supported, received ", encoding);
  return encoding == "utf-8";
}

template <Case kCase>
absl::Status ChangeCase(KernelContext& c, const Prepared<EncodesUtf8>& is_utf8) {
  return MapElements<std::string>(c, [&](const std::string& s) {
    if (*is_utf8) return ToCase<kCase>(s);
    return kCase == Case::kLower ? absl::AsciiStrToLower(s) : absl::AsciiStrToUpper(s);
  });
}
KERNEL(StringLower, FunctionKernel<ChangeCase<Case::kLower>>);
KERNEL(StringUpper, FunctionKernel<ChangeCase<Case::kUpper>>);

absl::Status EncodeBase64(KernelContext& c) {
  const bool pad = c.node().AttrOr<bool>("pad", false);
  return MapElements<std::string>(c, [&](const std::string& s) {
    std::string text = absl::WebSafeBase64Escape(s);
    if (pad) text.append((4 - text.size() % 4) % 4, '=');
    return text;
  });
}
KERNEL(EncodeBase64, FunctionKernel<EncodeBase64>);

absl::Status DecodeBase64(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  const auto inputs = c.input(0).flat<std::string>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string_view text = inputs[i];
    for (int k = 0; k < 2 && text.ends_with('=') && inputs[i].size() % 4 == 0; ++k) {
      text.remove_suffix(1);
    }
    const bool valid = std::all_of(text.begin(), text.end(), [](char ch) {
      return std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '-' || ch == '_';
    });
    SLUICE_INVALID_IF(!valid, "Invalid character found in base64.");
    SLUICE_INVALID_IF(text.size() % 4 == 1, "Base64 string length cannot be 1 modulo 4.");
    SLUICE_INVALID_IF(!absl::WebSafeBase64Unescape(ToAbsl(text), &out->data<std::string>()[i]),
                      "Invalid character found in base64.");
  }
  return absl::OkStatus();
}
KERNEL(DecodeBase64, FunctionKernel<DecodeBase64>);

// Sets `begin` and `end` to the range of a part, in bytes. Returns false if `pos` is out of range.
bool PartOf(std::string_view s, int64_t pos, int64_t len, bool characters, size_t* begin,
            size_t* end) {
  const auto size = static_cast<int64_t>(s.size());
  if (!characters) {
    if (pos > size || pos < -size) return false;
    const int64_t start = pos < 0 ? pos + size : pos;
    *begin = static_cast<size_t>(start);
    // A negative length requests the rest.
    const int64_t rest = size - start;
    *end = static_cast<size_t>(start + (len < 0 ? rest : std::min(len, rest)));
    return true;
  }
  size_t at = pos < 0 ? s.size() : 0;
  if (!SkipUtf8(s, pos, &at)) return false;
  *begin = at;
  if (len < 0 || !SkipUtf8(s, len, &at)) at = s.size();
  *end = at;
  return true;
}

template <typename T>
absl::Status Substr(KernelContext& c) {
  const Tensor& input = c.input(0);
  const Tensor& pos = c.input(1);
  const Tensor& len = c.input(2);
  const bool characters = c.node().AttrOr<std::string>("unit", "BYTE") == "UTF8_CHAR";
  SLUICE_INVALID_IF(!(pos.shape() == len.shape()),
                    "pos and len should have the same shape, got: ", pos.shape().ToString(),
                    " vs. ", len.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape both, BroadcastShapes(input.shape(), pos.shape()));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(both.dims()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  // Returns the position of element i of the result in an input that is broadcast.
  const auto place = [&](const TensorShape& from, int64_t i) {
    int64_t at = 0, stride = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      const int axis = shape.rank() - 1 - d;
      const int own = from.rank() - 1 - d;
      const int64_t index = i % shape.dim(axis);
      i /= shape.dim(axis);
      if (own < 0) continue;
      if (from.dim(own) != 1) at += index * stride;
      stride *= from.dim(own);
    }
    return at;
  };
  for (int64_t i = 0; i < out->num_elements(); ++i) {
    const std::string& s = input.data<std::string>()[place(input.shape(), i)];
    const int64_t j = place(pos.shape(), i);
    const auto start = static_cast<int64_t>(pos.data<T>()[j]);
    size_t begin, end;
    SLUICE_INVALID_IF(
        !PartOf(s, start, static_cast<int64_t>(len.data<T>()[j]), characters, &begin, &end), "pos ",
        start, " out of range for string '", s, "' at index ", i);
    out->data<std::string>()[i] = s.substr(begin, end - begin);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(Substr, "T", Substr, IndexList);

}  // namespace
}  // namespace sluice
