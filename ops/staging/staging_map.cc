#include "ops/staging/staging_map.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {
namespace {

bool IsStaged(const std::optional<Tensor>& part) { return part.has_value(); }

}  // namespace

StagingMap::StagingMap(const std::string& name, StagingLimits limits, size_t parts)
    : limits_(limits), parts_(parts), attempts_(StrCat("staging map '", name, "'"), [this] {
        attempts_.mutex().AssertHeld();
        return StrCat(complete_.size(), " tuples, ", incomplete_.size(), " incomplete, ", bytes_,
                      " bytes");
      }) {}

absl::Status StagingMap::CheckIndices(int64_t key, const Indices& indices) const {
  SLUICE_INVALID_IF(indices.empty(), "Indices are empty");
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    SLUICE_INVALID_IF(indices[i] >= indices[i + 1], "Indices are not strictly ordered");
  }
  for (int32_t index : {indices.front(), indices.back()}) {
    if (index >= 0 && static_cast<size_t>(index) < parts_) continue;
    return InvalidArgument("Index '", index, "' for key '", key, "' was out of bounds '", parts_,
                           "'.");
  }
  return absl::OkStatus();
}

void StagingMap::Put(const Caller& caller, int64_t key, Indices indices, Tensors values,
                     Done done) {
  if (absl::Status ok = CheckIndices(key, indices); !ok.ok()) return done(std::move(ok));
  if (indices.size() != values.size()) {
    return done(InvalidArgument("Expected a value for each of ", indices.size(), " indices, got ",
                                values.size()));
  }
  const int64_t bytes = BytesOf(values);
  if (absl::Status fits = limits_.Check(bytes); !fits.ok()) return done(std::move(fits));
  auto attempt = [this, key, bytes, indices = std::move(indices),
                  values = std::move(values)]() mutable {
    attempts_.mutex().AssertHeld();
    return TryPut(key, indices, values, bytes);
  };
  attempts_.Run(shared_from_this(), caller, Attempts::kNoLine, std::move(attempt), std::move(done));
}

std::optional<absl::Status> StagingMap::TryPut(int64_t key, const Indices& indices, Tensors& values,
                                               int64_t bytes) {
  const bool has_all_parts = indices.size() == parts_;
  if (!limits_.HaveBytes(bytes_, bytes)) return std::nullopt;
  // Applies the limit only to whole tuples. A tuple that a later part completes may exceed it,
  // because its other parts are in the map already.
  if (has_all_parts && !limits_.HavePlace(static_cast<int64_t>(complete_.size()))) {
    return std::nullopt;
  }
  if (has_all_parts && complete_.contains(key)) return absl::OkStatus();
  Parts& parts = has_all_parts ? complete_[key] : incomplete_[key];
  parts.resize(parts_);
  for (int32_t index : indices) {
    if (!parts[index].has_value()) continue;
    return InvalidArgument("The tensor for index '", index, "' for key '", key,
                           "' was already initialized '", parts_, "'.");
  }
  for (size_t i = 0; i < indices.size(); ++i) parts[indices[i]] = std::move(values[i]);
  bytes_ += bytes;
  if (!has_all_parts && std::all_of(parts.begin(), parts.end(), IsStaged)) {
    const auto inserted = complete_.insert(incomplete_.extract(key));
    if (!inserted.inserted) {
      for (const auto& part : inserted.node.mapped()) bytes_ -= BytesOf(*part);
    }
  }
  return absl::OkStatus();
}

absl::Status StagingMap::TakeParts(Tuples::iterator tuple, const Indices& indices,
                                   const std::vector<DataType>& types, Use use, Tensors* values) {
  SLUICE_RETURN_IF_ERROR(CheckIndices(tuple->first, indices));
  Parts& parts = tuple->second;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor>& part = parts[indices[i]];
    SLUICE_INVALID_IF(!part.has_value(), "Tensor at index '", indices[i], "' for key '",
                      tuple->first, "' has already been removed.");
    SLUICE_INVALID_IF(part->dtype() != types[i], "Tensor at index '", indices[i], "' for key '",
                      tuple->first, "' is ", DataTypeName(part->dtype()), ", asked for ",
                      DataTypeName(types[i]));
  }
  for (int32_t index : indices) {
    values->push_back(*parts[index]);
    if (use == Use::kPeek) continue;
    bytes_ -= BytesOf(values->back());
    parts[index].reset();
  }
  if (std::none_of(parts.begin(), parts.end(), IsStaged)) complete_.erase(tuple);
  return absl::OkStatus();
}

void StagingMap::Get(const Caller& caller, std::optional<int64_t> key, Indices indices,
                     std::vector<DataType> types, Use use, Taken taken) {
  if (indices.size() != types.size()) {
    return taken(
        InvalidArgument("output/indices size mismatch: ", types.size(), " vs. ", indices.size()));
  }
  auto attempt = [this, key, use, indices = std::move(indices),
                  types = std::move(types)](Entry* entry) -> std::optional<absl::Status> {
    attempts_.mutex().AssertHeld();
    const auto found = key.has_value() ? complete_.find(*key) : complete_.begin();
    if (found == complete_.end()) return std::nullopt;
    entry->key = found->first;
    return TakeParts(found, indices, types, use, &entry->values);
  };
  attempts_.RunFor<Entry>(shared_from_this(), caller, Attempts::kNoLine, std::move(attempt),
                          std::move(taken));
}

void StagingMap::Take(const Caller& caller, int64_t key, Indices indices,
                      std::vector<DataType> types, Taken taken) {
  if (absl::Status ok = CheckIndices(key, indices); !ok.ok()) return taken(std::move(ok));
  Get(caller, key, std::move(indices), std::move(types), Use::kTake, std::move(taken));
}

void StagingMap::TakeFirst(const Caller& caller, Indices indices, std::vector<DataType> types,
                           Taken taken) {
  Get(caller, std::nullopt, std::move(indices), std::move(types), Use::kTake, std::move(taken));
}

void StagingMap::Peek(const Caller& caller, int64_t key, Indices indices,
                      std::vector<DataType> types, Taken taken) {
  if (absl::Status ok = CheckIndices(key, indices); !ok.ok()) return taken(std::move(ok));
  Get(caller, key, std::move(indices), std::move(types), Use::kPeek, std::move(taken));
}

void StagingMap::Clear() {
  attempts_.Change([this] {
    attempts_.mutex().AssertHeld();
    complete_.clear();
    incomplete_.clear();
    bytes_ = 0;
  });
}

int64_t StagingMap::size() const {
  ScopedLock lock(&attempts_.mutex());
  return static_cast<int64_t>(complete_.size());
}

int64_t StagingMap::incomplete_size() const {
  ScopedLock lock(&attempts_.mutex());
  return static_cast<int64_t>(incomplete_.size());
}

}  // namespace sluice
