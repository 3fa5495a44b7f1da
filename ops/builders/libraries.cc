// Which library has an op, for programs that link only some of them: every family brings this
// along, so that what is missing can be named in an error. The rooms below know nothing of
// families; they refer to these functions weakly.
#include <string>
#include <string_view>

namespace sluice {

// A line "<op> <family> <family of its kernels>" for each op: libraries_table.cc. It is read only
// for an error.
extern const char kOpLibraries[];

namespace {

// What stands before `end`, which is taken off with it.
std::string_view Take(std::string_view* text, char end) {
  const size_t at = text->find(end);
  const std::string_view first = text->substr(0, at);
  text->remove_prefix(at == text->npos ? text->size() : at + 1);
  return first;
}

// "family family"; empty where no family has the op.
std::string_view FamiliesOf(std::string_view op) {
  std::string_view rest = kOpLibraries;
  while (!rest.empty()) {
    std::string_view line = Take(&rest, '\n');
    if (Take(&line, ' ') == op) return line;
  }
  return {};
}

}  // namespace

// "//ops/image"; "" where no library has the op. Called by OpRegistry.
std::string LibraryOfOp(std::string_view op) {
  std::string_view families = FamiliesOf(op);
  return families.empty() ? "" : "//ops/" + std::string(Take(&families, ' '));
}

// "//ops/image:image_kernels". Called by KernelRegistry.
std::string LibraryOfKernels(std::string_view op) {
  std::string_view families = FamiliesOf(op);
  if (families.empty()) return "";
  Take(&families, ' ');
  const std::string family(families);
  return "//ops/" + family + ":" + family + "_kernels";
}

}  // namespace sluice
