#include "graph/ir/variable_slice.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/strings.h"

namespace sluice {
namespace {

constexpr std::string_view kCollection = "__variable_slices";

// Entries are "<variable>\n<full name>\n<shape and slice>"; no name has a line break.
std::string Encode(std::string_view variable, const VariableSlice& slice) {
  return StrCat(variable, "\n", slice.full_name, "\n", slice.ShapeAndSlice());
}

VariableSlice Decode(std::string_view entry) {
  const std::vector<std::string> lines = absl::StrSplit(ToAbsl(entry), '\n');
  VariableSlice slice;
  slice.full_name = lines[1];
  const auto number = [](absl::string_view text) {
    int64_t value = 0;
    return absl::SimpleAtoi(text, &value) ? value : 0;
  };
  std::vector<std::string> words = absl::StrSplit(lines[2], ' ');
  for (size_t i = 0; i + 1 < words.size(); ++i) slice.full_shape.push_back(number(words[i]));
  for (absl::string_view extent : absl::StrSplit(words.back(), ':')) {
    const std::vector<absl::string_view> pair = absl::StrSplit(extent, ',');
    slice.offset.push_back(number(pair[0]));
    slice.shape.push_back(number(pair.back()));
  }
  return slice;
}

}  // namespace

std::string VariableSlice::ShapeAndSlice() const {
  std::string text;
  for (int64_t n : full_shape) StrAppend(&text, n, " ");
  for (size_t d = 0; d < offset.size(); ++d) {
    StrAppend(&text, d == 0 ? "" : ":", offset[d], ",", shape[d]);
  }
  return text;
}

void SetVariableSlice(Graph& graph, std::string_view variable, const VariableSlice& slice) {
  graph.AddToCollection(kCollection, Encode(variable, slice));
}

std::optional<VariableSlice> FindVariableSlice(const Graph& graph, std::string_view variable) {
  const std::vector<std::string>& entries = graph.Collection(kCollection);
  const std::string start = StrCat(variable, "\n");
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->starts_with(start)) return Decode(*entry);
  }
  return std::nullopt;
}

}  // namespace sluice
