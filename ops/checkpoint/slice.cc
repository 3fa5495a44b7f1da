#include "ops/checkpoint/slice.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

bool ParseInt(std::string_view text, int64_t* value) {
  return absl::SimpleAtoi(ToAbsl(text), value);
}

// --- keys: encode numbers and text as bytes that sort in the same order (Google's "ordered code")

// Appends the length in bytes, and then the bytes, most significant first.
void AppendOrdered(std::string* key, uint64_t number) {
  char bytes[8];
  int n = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    const char byte = static_cast<char>(number >> shift);
    if (n > 0 || byte != 0) bytes[n++] = byte;
  }
  key->push_back(static_cast<char>(n));
  key->append(bytes, static_cast<size_t>(n));
}

// Escapes bytes 0 and 255, so that the end mark 0 1 sorts before any longer text.
void AppendOrdered(std::string* key, std::string_view text) {
  for (char c : text) {
    key->push_back(c);
    if (c == '\0') key->push_back('\xff');
    if (c == '\xff') key->push_back('\0');
  }
  key->append(std::string_view("\0\x01", 2));
}

// Writes n bytes: a header of n bits, which encode the length together with the sign bit, and the
// sign-extended number.
void AppendOrderedSigned(std::string* key, int64_t number) {
  const uint64_t magnitude = static_cast<uint64_t>(number < 0 ? ~number : number);
  int n = 1;  // n bytes hold a sign and 7n - 1 bits
  while (n < 10 && (magnitude >> std::min(63, 7 * n - 1)) != 0) ++n;
  // Extends the number to ten bytes. The bits above 64 are copies of the sign.
  unsigned char bytes[10];
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    bytes[i] = shift >= 64 ? (number < 0 ? 0xff : 0)
                           : static_cast<unsigned char>(static_cast<uint64_t>(number) >> shift);
  }
  unsigned char* first = bytes + 10 - n;
  // Flips the n highest bits, to 1…1 0 for positive numbers and 0…0 1 for negative ones.
  for (int bit = 0; bit < n; ++bit) first[bit / 8] ^= static_cast<unsigned char>(0x80 >> (bit % 8));
  key->append(reinterpret_cast<const char*>(first), static_cast<size_t>(n));
}

}  // namespace

absl::StatusOr<TensorSlice> TensorSlice::Parse(std::string_view text) {
  std::vector<Extent> extents;
  if (text.empty()) return TensorSlice();
  for (absl::string_view part : absl::StrSplit(ToAbsl(text), ':')) {
    Extent extent;
    if (part != "-") {
      const std::vector<absl::string_view> pair = absl::StrSplit(part, ',');
      SLUICE_INVALID_IF(pair.size() != 2 || !absl::SimpleAtoi(pair[0], &extent.start) ||
                            !absl::SimpleAtoi(pair[1], &extent.length),
                        "Expected a pair of numbers or '-' but got '", part, "': string = ", text);
      SLUICE_INVALID_IF(extent.start < 0 || extent.length <= 0,
                        "Expected non-negative start and positive length but got start = ",
                        extent.start, ", length = ", extent.length, ": string = ", text);
    }
    extents.push_back(extent);
  }
  return TensorSlice(std::move(extents));
}

absl::StatusOr<TensorSlice> TensorSlice::FromProto(const pb::TensorSliceProto& proto) {
  std::vector<Extent> extents;
  SLUICE_INVALID_IF(proto.extent_size() > TensorShape::kMaxRank, "a slice of ", proto.extent_size(),
                    " dimensions");
  for (const auto& e : proto.extent()) {
    const bool is_full = e.has_length_hack_case() != pb::TensorSliceProto::Extent::kLength;
    const Extent extent = {e.start(), is_full ? kFull : e.length()};
    SLUICE_INVALID_IF(
        extent.start < 0 || (is_full && extent.start != 0) || (!is_full && extent.length < 0),
        "expected a slice of non-negative start and length, got start ", extent.start, ", length ",
        extent.length);
    extents.push_back(extent);
  }
  return TensorSlice(std::move(extents));
}

void TensorSlice::ToProto(pb::TensorSliceProto* proto) const {
  proto->clear_extent();
  for (const Extent& e : extents_) {
    auto* extent = proto->add_extent();
    if (e.length == kFull) continue;
    extent->set_start(e.start);
    extent->set_length(e.length);
  }
}

bool TensorSlice::IsFull() const {
  return std::all_of(extents_.begin(), extents_.end(),
                     [](const Extent& e) { return e.length == kFull; });
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (const Extent& e : extents_) {
    if (!text.empty()) text += ':';
    if (e.length == kFull) {
      text += '-';
    } else {
      StrAppend(&text, e.start, ",", e.length);
    }
  }
  return text;
}

absl::StatusOr<TensorShape> TensorSlice::ShapeIn(const TensorShape& shape) const {
  if (rank() != shape.rank()) {
    return absl::InternalError(
        StrCat("Mismatching ranks: shape = ", shape.ToString(), ", slice = ", ToString()));
  }
  TensorShape result = shape;
  for (int d = 0; d < rank(); ++d) {
    const Extent& e = extents_[d];
    if (e.length == kFull) continue;
    if (e.start > shape.dim(d) || e.length > shape.dim(d) - e.start) {
      return absl::InternalError(StrCat("Extent in dimension ", d, " out of bounds: shape = ",
                                        shape.ToString(), ", slice = ", ToString()));
    }
    result.set_dim(d, e.length);
  }
  return result;
}

std::optional<TensorSlice> TensorSlice::Intersect(const TensorSlice& other) const {
  std::vector<Extent> common;
  for (int d = 0; d < rank(); ++d) {
    const Extent& a = extents_[d];
    const Extent& b = other.extents_[d];
    if (a.length == kFull || b.length == kFull) {
      common.push_back(a.length == kFull ? b : a);
      continue;
    }
    const int64_t start = std::max(a.start, b.start);
    const int64_t end = std::min(a.start + a.length, b.start + b.length);
    if (end <= start) return std::nullopt;
    common.push_back({start, end - start});
  }
  return TensorSlice(std::move(common));
}

absl::StatusOr<ShapeAndSlice> ParseShapeAndSlice(std::string_view text) {
  ShapeAndSlice result;
  if (text.empty()) return result;
  std::vector<absl::string_view> words = absl::StrSplit(ToAbsl(text), ' ');
  SLUICE_INVALID_IF(words.size() < 2,
                    "Need least two elements in shape_and_slice specification: ", text);
  result.is_whole = false;
  SLUICE_ASSIGN_OR_RETURN(result.slice, TensorSlice::Parse(ToStd(words.back())));
  std::vector<int64_t> dims;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    int64_t dim;
    SLUICE_INVALID_IF(!ParseInt(ToStd(words[i]), &dim),
                      "Non numerical dimension in shape_and_slice: ", text);
    dims.push_back(dim);
  }
  SLUICE_ASSIGN_OR_RETURN(result.full_shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(result.slice_shape, result.slice.ShapeIn(result.full_shape));
  return result;
}

std::string TensorSliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendOrdered(&key, uint64_t{0});
  AppendOrdered(&key, name);
  AppendOrdered(&key, static_cast<uint64_t>(slice.rank()));
  for (int d = 0; d < slice.rank(); ++d) {
    AppendOrderedSigned(&key, slice.extent(d).start);
    AppendOrderedSigned(&key, slice.extent(d).length);
  }
  return key;
}

namespace {

struct Box {
  std::vector<int64_t> start;
  std::vector<int64_t> length;
};

Box Resolve(const TensorShape& shape, const TensorSlice& slice) {
  Box box;
  for (int d = 0; d < shape.rank(); ++d) {
    const TensorSlice::Extent& e = slice.extent(d);
    const bool is_full = e.length == TensorSlice::kFull;
    box.start.push_back(is_full ? 0 : e.start);
    box.length.push_back(is_full ? shape.dim(d) : e.length);
  }
  return box;
}

// Returns the offset of a point of the whole tensor in a box that contains it.
int64_t OffsetIn(const Box& box, const std::vector<int64_t>& point) {
  int64_t offset = 0;
  for (size_t d = 0; d < point.size(); ++d) {
    offset = offset * box.length[d] + point[d] - box.start[d];
  }
  return offset;
}

}  // namespace

int64_t CopySlice(const TensorShape& full_shape, const TensorSlice& from_slice, const Tensor& from,
                  const TensorSlice& to_slice, Tensor* to) {
  const std::optional<TensorSlice> common = from_slice.Intersect(to_slice);
  if (!common) return 0;
  const Box source = Resolve(full_shape, from_slice);
  const Box target = Resolve(full_shape, to_slice);
  const Box both = Resolve(full_shape, *common);
  int64_t total = 1;
  for (int64_t n : both.length) total *= n;
  if (total == 0) return 0;
  const int rank = full_shape.rank();
  const int64_t row = rank == 0 ? 1 : both.length[rank - 1];
  std::vector<int64_t> point = both.start;
  for (int64_t copied = 0; copied < total; copied += row) {
    CopyElements(from, OffsetIn(source, point), row, to, OffsetIn(target, point));
    for (int d = rank - 2; d >= 0; --d) {
      if (++point[d] < both.start[d] + both.length[d]) break;
      point[d] = both.start[d];
    }
  }
  return total;
}

}  // namespace sluice
