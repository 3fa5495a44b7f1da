// Kernels that decode, encode and convert Unicode text with ICU. Every call opens its own
// converters, because they are not thread-safe.
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/strings/map_elements.h"

namespace sluice {
namespace {

// Says how to treat bytes and numbers that are not characters.
struct BadText {
  bool is_error = false;
  bool is_ignored = false;
  UChar32 replacement = 0xfffd;
  bool includes_control_characters = false;

  static absl::StatusOr<BadText> Of(const KernelInit& init) {
    const auto errors = init.attr<std::string>("errors");
    const auto replacement = init.attr<int64_t>("replacement_char");
    SLUICE_INVALID_IF(replacement < UCHAR_MIN_VALUE || replacement > UCHAR_MAX_VALUE,
                      "replacement_char out of unicode codepoint range");
    return BadText{
        .is_error = errors == "strict",
        .is_ignored = errors == "ignore",
        .replacement = static_cast<UChar32>(replacement),
        .includes_control_characters = init.AttrOr<bool>("replace_control_characters", false)};
  }
  bool Includes(UChar32 character, bool is_malformed) const {
    return is_malformed || (includes_control_characters && character <= 0x1f);
  }
};

class Decoder {
 public:
  static absl::StatusOr<Decoder> Open(const std::string& encoding) {
    UErrorCode status = U_ZERO_ERROR;
    Decoder decoder(ucnv_open(encoding.c_str(), &status));
    SLUICE_INVALID_IF(U_FAILURE(status),
                      "Could not create converter for input encoding: ", encoding);
    return decoder;
  }

  struct Found {
    bool bad = false, malformed = false;
  };
  // Calls `f(character, offset)` for each character of `text`. Replaces or ignores bad characters.
  template <typename F>
  Found ForEach(const std::string& text, const BadText& bad, F f) {
    UConverter* converter = converter_.get();
    Found found;
    bool is_malformed = false;
    UErrorCode status = U_ZERO_ERROR;
    ucnv_reset(converter);
    ucnv_setToUCallBack(converter, &Substitute, &is_malformed, nullptr, nullptr, &status);
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
      const int64_t offset = at - text.data();
      const UChar32 character = ucnv_getNextUChar(converter, &at, end, &status);
      if (U_FAILURE(status)) at = end;
      const bool is_bad = bad.Includes(character, is_malformed);
      found.bad = found.bad || is_bad;
      found.malformed = found.malformed || std::exchange(is_malformed, false);
      if (!is_bad) f(character, offset);
      if (is_bad && !bad.is_ignored) f(bad.replacement, offset);
    }
    return found;
  }

 private:
  explicit Decoder(UConverter* converter) : converter_(converter, &ucnv_close) {}

  // Replaces bytes as ICU does, and records that the text is malformed.
  static void Substitute(const void* is_malformed, UConverterToUnicodeArgs* args, const char* units,
                         int32_t length, UConverterCallbackReason reason, UErrorCode* status) {
    if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR) {
      *static_cast<bool*>(const_cast<void*>(is_malformed)) = true;
    }
    UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, units, length, reason, status);
  }

  std::unique_ptr<UConverter, void (*)(UConverter*)> converter_;
};

absl::Status Malformed() { return InvalidArgument("Invalid formatting on input string"); }

enum class Encoding { kUtf8, kUtf16Be, kUtf32Be };

Encoding OutputEncoding(const KernelInit& init) {
  const auto name = init.attr<std::string>("output_encoding");
  return name == "UTF-8"       ? Encoding::kUtf8
         : name == "UTF-16-BE" ? Encoding::kUtf16Be
                               : Encoding::kUtf32Be;
}

std::string Encoded(const icu::UnicodeString& text, Encoding encoding) {
  std::string bytes;
  const auto append = [&](uint32_t unit, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(unit >> shift));
    }
  };
  if (encoding == Encoding::kUtf8) {
    text.toUTF8String(bytes);
  } else if (encoding == Encoding::kUtf16Be) {
    for (int32_t i = 0; i < text.length(); ++i) append(text.charAt(i), 2);
  } else {
    for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
      append(static_cast<uint32_t>(text.char32At(i)), 4);
    }
  }
  return bytes;
}

class UnicodeTranscodeKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BadText bad, BadText::Of(init));
    SLUICE_RETURN_IF_ERROR(Decoder::Open(init.attr<std::string>("input_encoding")).status());
    return std::unique_ptr<Kernel>(new UnicodeTranscodeKernel(init, bad));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(input_encoding_));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
    const auto inputs = c.input(0).flat<std::string>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      icu::UnicodeString text;
      const Decoder::Found found = decoder.ForEach(
          inputs[i], bad_, [&](UChar32 character, int64_t) { text.append(character); });
      if (found.bad && bad_.is_error) return Malformed();
      out->data<std::string>()[i] = Encoded(text, output_encoding_);
    }
    return absl::OkStatus();
  }

 private:
  UnicodeTranscodeKernel(KernelInit& init, const BadText& bad)
      : bad_(bad),
        input_encoding_(init.attr<std::string>("input_encoding")),
        output_encoding_(OutputEncoding(init)) {}
  const BadText bad_;
  const std::string input_encoding_;
  const Encoding output_encoding_;
};
KERNEL(UnicodeTranscode, UnicodeTranscodeKernel);

template <typename T>
class UnicodeDecodeKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BadText bad, BadText::Of(init));
    SLUICE_RETURN_IF_ERROR(Decoder::Open(init.attr<std::string>("input_encoding")).status());
    return std::unique_ptr<Kernel>(new UnicodeDecodeKernel(init, bad));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(input_encoding_));
    const auto inputs = c.input(0).flat<std::string>();
    SLUICE_ASSIGN_OR_RETURN(Tensor * splits,
                            c.AllocateOutput(0, {static_cast<int64_t>(inputs.size()) + 1}));
    std::vector<int32_t> characters;
    std::vector<int64_t> starts;
    splits->data<T>()[0] = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Decoder::Found found =
          decoder.ForEach(inputs[i], bad_, [&](UChar32 character, int64_t offset) {
            characters.push_back(character);
            starts.push_back(offset);
          });
      // Unlike UnicodeTranscode, this replaces control characters even if `errors` is strict.
      if (found.malformed && bad_.is_error) return Malformed();
      splits->data<T>()[i + 1] = static_cast<T>(characters.size());
    }
    const TensorShape shape({static_cast<int64_t>(characters.size())});
    SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, shape));
    std::copy(characters.begin(), characters.end(), values->data<int32_t>());
    if (c.num_outputs() < 3) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(Tensor * offsets, c.AllocateOutput(2, shape));
    std::copy(starts.begin(), starts.end(), offsets->data<int64_t>());
    return absl::OkStatus();
  }

 private:
  UnicodeDecodeKernel(KernelInit& init, const BadText& bad)
      : bad_(bad), input_encoding_(init.attr<std::string>("input_encoding")) {}
  const BadText bad_;
  const std::string input_encoding_;
};
KERNELS(UnicodeDecode, "Tsplits", UnicodeDecodeKernel, IndexList);
KERNELS(UnicodeDecodeWithOffsets, "Tsplits", UnicodeDecodeKernel, IndexList);

absl::StatusOr<BadText> BadTextOf(KernelInit& init) { return BadText::Of(init); }

template <typename T>
absl::Status CheckSplits(const Tensor& characters, const Tensor& splits) {
  SLUICE_INVALID_IF(characters.rank() != 1 || splits.rank() != 1,
                    "Both the input_tensor and input_splits should be of rank 1. ");
  const auto rows = splits.flat<T>();
  SLUICE_INVALID_IF(rows.empty(),
                    "Input_splits should contain elements, but given input_values has 0 "
                    "elements");
  SLUICE_INVALID_IF(rows[0] != 0, "First value in input_splits must be zero.");
  SLUICE_INVALID_IF(rows.back() != characters.num_elements(),
                    "Last value in input_splits must be equal to length of input_tensor.");
  SLUICE_INVALID_IF(!std::is_sorted(rows.begin(), rows.end()),
                    "Values in input_splits must be equal or in ascending order.");
  return absl::OkStatus();
}

template <typename T>
absl::Status UnicodeEncode(KernelContext& c, const Prepared<BadTextOf>& bad,
                           const Prepared<OutputEncoding>& encoding) {
  SLUICE_RETURN_IF_ERROR(CheckSplits<T>(c.input(0), c.input(1)));
  const auto characters = c.input(0).flat<int32_t>();
  const auto splits = c.input(1).flat<T>();
  SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                          c.AllocateOutput(0, {static_cast<int64_t>(splits.size()) - 1}));
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    icu::UnicodeString text;
    for (T i = splits[row]; i < splits[row + 1]; ++i) {
      UChar32 character = characters[static_cast<size_t>(i)];
      if (character < 0 || character > UCHAR_MAX_VALUE || U_IS_SURROGATE(character)) {
        SLUICE_INVALID_IF(bad->is_error,
                          "Code point is out of range for Unicode, or is a surrogate.");
        if (bad->is_ignored) continue;
        character = bad->replacement;
      }
      text.append(character);
    }
    out->data<std::string>()[row] = Encoded(text, *encoding);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(UnicodeEncode, "Tsplits", UnicodeEncode, IndexList);

absl::Status UnicodeScript(KernelContext& c) {
  return MapElements<int32_t, int32_t>(c, [](int32_t character) -> int32_t {
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(character, &status);
    return U_SUCCESS(status) ? script : USCRIPT_INVALID_CODE;
  });
}
KERNEL(UnicodeScript, FunctionKernel<UnicodeScript>);

}  // namespace
}  // namespace sluice
