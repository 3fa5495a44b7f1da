#include "ops/data/cache.h"

#include <utility>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// What is kept, from its beginning.
IteratorPointer Again(std::shared_ptr<ElementCache> cache) {
  return MakeIterator(
      [cache = std::move(cache), at = size_t{0}](Tensors* element) mutable -> absl::StatusOr<bool> {
        if (at == cache->elements->size()) return false;
        *element = (*cache->elements)[at++];
        return true;
      });
}

}  // namespace

absl::StatusOr<DatasetPointer> Cached(const KernelContext& c, std::shared_ptr<ElementCache> cache) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto file, ScalarInput<std::string>(c, 1, "filename"));
  if (!file.empty()) {
    return absl::UnimplementedError(
        StrCat(c.node().Describe(), ": a cache in a file is not supported, got '", file, "'"));
  }
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    std::unique_lock lock(cache->mutex);
    if (cache->elements.has_value()) return Again(cache);
    lock.unlock();
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
    return MakeIterator([cache, inner = std::shared_ptr<DatasetIterator>(std::move(start)),
                         seen = std::vector<Tensors>(),
                         is_over = false](Tensors* element) mutable -> absl::StatusOr<bool> {
      if (is_over) return false;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
      if (any) {
        seen.push_back(*element);
        return true;
      }
      is_over = true;
      std::lock_guard guard(cache->mutex);
      if (!cache->elements.has_value()) cache->elements = std::move(seen);
      return false;
    });
  };
  return MakeDataset(input->facts(), iterate);
}

}  // namespace sluice
