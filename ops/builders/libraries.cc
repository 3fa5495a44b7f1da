// Finds the library that has an op, so that an error can name the library to link. Every family
// links this file. graph/ and executor/ must not depend on the families, so they call these
// functions through weak references.
#include <string>
#include <string_view>

namespace sluice {

// One line per op: "<op> <library> <library of its kernels>". Defined in libraries_table.cc. Parsed
// only when an error is reported.
extern const char kOpLibraries[];

namespace {

// Removes the text up to and including `end` from `text`. Returns the removed text without `end`.
std::string_view Take(std::string_view* text, char end) {
  const size_t at = text->find(end);
  const std::string_view first = text->substr(0, at);
  text->remove_prefix(at == text->npos ? text->size() : at + 1);
  return first;
}

// Returns "//ops/image:image //ops/image:image_kernels", or "" if no library has the op.
std::string_view LibrariesOf(std::string_view op) {
  std::string_view rest = kOpLibraries;
  while (!rest.empty()) {
    std::string_view line = Take(&rest, '\n');
    if (Take(&line, ' ') == op) return line;
  }
  return {};
}

}  // namespace

// Returns "//ops/image" or "//ops/image:webp", or "" if no library has the op. OpRegistry calls it.
std::string LibraryOfOp(std::string_view op) {
  std::string_view libraries = LibrariesOf(op);
  const std::string label(Take(&libraries, ' '));
  const size_t colon = label.find(':');
  if (colon == label.npos) return label;
  const std::string folder = label.substr(0, colon), name = label.substr(colon + 1);
  return folder.ends_with("/" + name) ? folder : label;
}

// Returns "//ops/image:image_kernels", or "" if no library has the op. KernelRegistry calls it.
std::string LibraryOfKernels(std::string_view op) {
  std::string_view libraries = LibrariesOf(op);
  Take(&libraries, ' ');
  return std::string(libraries);
}

}  // namespace sluice
