#include "ops/embedding/record_tensors.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {
namespace {

RecordTypes TypesOf(const RecordTensors& records) {
  RecordTypes types;
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = records.*kRecordColumns[i].tensor;
    types[i] = {t.dtype(), t.shape()};
  }
  return types;
}

// Returns the types and shapes of `n` records of a table.
absl::StatusOr<RecordTypes> TypesOf(int64_t n, int64_t slots, const RowStoreOptions& table) {
  // Make checks the sizes: if they are from a file, they may be too large for a shape.
  SLUICE_ASSIGN_OR_RETURN(const TensorShape column, TensorShape::Make({n}));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape rows, TensorShape::Make({n, table.dim}));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape all_slots, TensorShape::Make({n, slots, table.dim}));
  return RecordTypes{{{DT_INT64, column},
                      {table.dtype, rows},
                      {table.dtype, all_slots},
                      {DT_INT64, column},
                      {DT_INT64, column}}};
}

// Returns the number of slots in each record.
int64_t SlotsOf(const TensorShape& slots) { return slots.rank() == 3 ? slots.dim(1) : 0; }

absl::StatusOr<Tensor> VectorOf(absl::Span<const int64_t> values) {
  SLUICE_ASSIGN_OR_RETURN(Tensor vector,
                          Tensor::Allocate(LimitedHeap(), DT_INT64,
                                           TensorShape({static_cast<int64_t>(values.size())})));
  std::copy(values.begin(), values.end(), vector.data<int64_t>());
  return vector;
}

// --- what the rules of a table (for admission and eviction) know

Tensor StepsTensor(const RowStore& store, const IdleLimits::State& state) {
  return Tensor::Vector<int64_t>(
      {state.latest, store.update_calls(), state.began_before, state.began_before_previously});
}

absl::StatusOr<Tensor> AgesTensor(const IdleLimits::State& state) {
  const TensorShape shape({static_cast<int64_t>(state.ages.size()), 2});
  SLUICE_ASSIGN_OR_RETURN(Tensor ages, Tensor::Allocate(LimitedHeap(), DT_INT64, shape));
  int64_t* out = ages.data<int64_t>();
  for (const auto& [step, age] : state.ages) *out++ = step, *out++ = age;
  return ages;
}

absl::Status SaveWaiting(Admission& admission, const std::string& folder, AddTensor add) {
  constexpr size_t kKeysPerChunk = size_t{1} << 20;
  std::vector<int64_t> keys, counts;
  for (int share = 0, chunk = 0; share < Admission::kShards; ++share) {
    for (const auto& [key, count] : admission.Waiting(share)) {
      keys.push_back(key);
      counts.push_back(count);
    }
    const bool is_last = share + 1 == Admission::kShards;
    if (keys.empty() || (keys.size() < kKeysPerChunk && !is_last)) continue;
    const std::string name = folder + absl::StrFormat("waiting-%02d/", chunk++);
    SLUICE_ASSIGN_OR_RETURN(const Tensor all_keys, VectorOf(keys));
    SLUICE_ASSIGN_OR_RETURN(const Tensor all_counts, VectorOf(counts));
    SLUICE_RETURN_IF_ERROR(add(name + "keys", all_keys));
    SLUICE_RETURN_IF_ERROR(add(name + "counts", all_counts));
    keys.clear();
    counts.clear();
  }
  return absl::OkStatus();
}

absl::Status SaveFilter(const Admission& admission, const std::string& folder, AddTensor add) {
  constexpr size_t kBytesPerChunk = size_t{16} << 20;
  std::vector<uint8_t> counters;
  int64_t first = 0;
  for (int64_t block = 0; block < Admission::kBlocks; ++block) {
    const std::vector<uint8_t> some = admission.FilterBlock(block);
    if (counters.empty()) first = block;
    counters.insert(counters.end(), some.begin(), some.end());
    const bool is_last = block + 1 == Admission::kBlocks;
    if (counters.empty() || (counters.size() < kBytesPerChunk && !is_last)) continue;
    const auto blocks = static_cast<int64_t>(counters.size()) / admission.block_size();
    const TensorShape shape({blocks, admission.block_size()});
    SLUICE_ASSIGN_OR_RETURN(Tensor chunk, Tensor::Allocate(LimitedHeap(), DT_UINT8, shape));
    std::copy(counters.begin(), counters.end(), chunk.data<uint8_t>());
    SLUICE_RETURN_IF_ERROR(add(folder + absl::StrFormat("filter-%02d", first), chunk));
    counters.clear();
  }
  return absl::OkStatus();
}

absl::Status SaveRules(RowStore& store, const std::string& folder, AddTensor add) {
  const IdleLimits::State state = store.idle().state();
  SLUICE_RETURN_IF_ERROR(add(folder + "steps", StepsTensor(store, state)));
  SLUICE_ASSIGN_OR_RETURN(const Tensor ages, AgesTensor(state));
  SLUICE_RETURN_IF_ERROR(add(folder + "ages", ages));
  SLUICE_RETURN_IF_ERROR(SaveWaiting(store.admission(), folder, add));
  return SaveFilter(store.admission(), folder, add);
}

// The names that a part of a table has in a checkpoint: names of tensors, or their common beginning
// up to the last slash, which names a chunk.
struct SavedPart {
  std::vector<std::string> chunks;
  std::string rules;                 // the folder, empty in old checkpoints
  std::vector<std::string> waiting;  // chunks of keys and counts
  std::vector<std::string> filter;
};

absl::Status ExpectType(const std::string& what, const TensorSource& from, const std::string& name,
                        DataType dtype, absl::FunctionRef<bool(const TensorShape&)> fits) {
  SLUICE_ASSIGN_OR_RETURN(const auto type, from.TypeOf(name));
  SLUICE_INVALID_IF(type.first != dtype || !fits(type.second), what, ": tensor '", name,
                    "' has type ", DataTypeName(type.first), " and shape ", type.second.ToString(),
                    ", which the rules of a table do not have");
  return absl::OkStatus();
}

absl::Status CheckRules(const std::string& what, const TensorSource& from, const SavedPart& part) {
  const auto is_vector = [](const TensorShape& shape) { return shape.rank() == 1; };
  const auto is_matrix = [](const TensorShape& shape) { return shape.rank() == 2; };
  if (part.rules.empty()) return absl::OkStatus();
  SLUICE_RETURN_IF_ERROR(
      ExpectType(what, from, part.rules + "steps", DT_INT64,
                 [](const TensorShape& shape) { return shape == TensorShape({4}); }));
  SLUICE_RETURN_IF_ERROR(
      ExpectType(what, from, part.rules + "ages", DT_INT64,
                 [](const TensorShape& shape) { return shape.rank() == 2 && shape.dim(1) == 2; }));
  for (const std::string& name : part.waiting) {
    SLUICE_RETURN_IF_ERROR(ExpectType(what, from, name + "keys", DT_INT64, is_vector));
    SLUICE_ASSIGN_OR_RETURN(const auto keys, from.TypeOf(name + "keys"));
    SLUICE_RETURN_IF_ERROR(
        ExpectType(what, from, name + "counts", DT_INT64,
                   [&](const TensorShape& shape) { return shape == keys.second; }));
  }
  for (const std::string& name : part.filter) {
    SLUICE_RETURN_IF_ERROR(ExpectType(what, from, name, DT_UINT8, is_matrix));
  }
  return absl::OkStatus();
}

// Merges the steps of a part into `state`. The lower of two ages of a step counts, so that no key
// is evicted too early.
void AddSteps(const Tensor& steps, const Tensor& ages, IdleLimits::State& state, int64_t& calls) {
  const int64_t* const numbers = steps.data<int64_t>();
  state.latest = std::max(state.latest, std::min(numbers[0], INT64_MAX - 1));
  calls = std::max(calls, std::min(numbers[1], INT64_MAX / 2));
  state.began_before = std::max(state.began_before, numbers[2]);
  state.began_before_previously = std::max(state.began_before_previously, numbers[3]);
  std::map<int64_t, int64_t> all(state.ages.begin(), state.ages.end());
  for (int64_t i = 0; i < ages.num_elements(); i += 2) {
    const int64_t step = ages.data<int64_t>()[i];
    const int64_t age = std::clamp<int64_t>(ages.data<int64_t>()[i + 1], 0, INT64_MAX / 4);
    const auto [at, is_new] = all.try_emplace(step, age);
    if (!is_new) at->second = std::min(at->second, age);
  }
  state.ages.assign(all.begin(), all.end());
}

absl::Status RestoreRules(const TensorSource& from, const std::vector<SavedPart>& parts,
                          absl::FunctionRef<bool(int64_t)> is_own, RowStore& store) {
  IdleLimits::State state = {.latest = store.idle().latest()};
  // This value remains if the checkpoint has no rules.
  int64_t calls = std::min(state.latest, INT64_MAX / 2) + 1;
  bool has_rules = false;
  for (const SavedPart& part : parts) {
    if (part.rules.empty()) continue;
    if (!has_rules) calls = 0;
    has_rules = true;
    SLUICE_ASSIGN_OR_RETURN(const Tensor steps, from.Read(part.rules + "steps"));
    SLUICE_ASSIGN_OR_RETURN(const Tensor ages, from.Read(part.rules + "ages"));
    AddSteps(steps, ages, state, calls);
    for (const std::string& name : part.waiting) {
      SLUICE_ASSIGN_OR_RETURN(const Tensor keys, from.Read(name + "keys"));
      SLUICE_ASSIGN_OR_RETURN(const Tensor counts, from.Read(name + "counts"));
      for (int64_t i = 0; i < keys.num_elements(); ++i) {
        const int64_t key = keys.data<int64_t>()[i];
        if (is_own(key)) store.admission().SetWaiting(key, counts.data<int64_t>()[i]);
      }
    }
    for (const std::string& name : part.filter) {
      SLUICE_ASSIGN_OR_RETURN(const Tensor counters, from.Read(name));
      int64_t first = 0;
      if (!absl::SimpleAtoi(name.substr(name.rfind('-') + 1), &first)) continue;
      first = std::clamp<int64_t>(first, 0, Admission::kBlocks);  // a file may say any number
      const int64_t size = counters.shape().dim(1);
      for (int64_t i = 0; i < counters.shape().dim(0); ++i) {
        store.admission().RaiseFilterBlock(
            first + i, {counters.data<uint8_t>() + i * size, static_cast<size_t>(size)});
      }
    }
  }
  store.idle().Restore(state);
  store.set_update_calls(calls);
  return absl::OkStatus();
}

// --- parts

// Returns the parts of a table by name. A name is "<shard>-of-<num_shards>".
std::map<std::string, SavedPart> PartsOf(const TensorSource& from, const std::string& table) {
  std::map<std::string, SavedPart> found;
  for (const std::string& name : from.names()) {
    if (!absl::StartsWith(name, table + "/")) continue;
    const std::vector<std::string> path = absl::StrSplit(name.substr(table.size() + 1), '/');
    if (path.size() < 3 || !absl::StrContains(path[0], "-of-")) continue;
    SavedPart& part = found[path[0]];
    const std::string folder = name.substr(0, name.rfind('/') + 1);
    if (path[1] != "rules") {
      if (path.size() == 3 && path[2] == "keys") part.chunks.push_back(folder);
    } else if (path.size() == 3 && path[2] == "steps") {
      part.rules = folder;
    } else if (path.size() == 3 && absl::StartsWith(path[2], "filter-")) {
      part.filter.push_back(name);
    } else if (path.size() == 4 && path[3] == "keys") {
      part.waiting.push_back(folder);
    }
  }
  // Removes what is no part, for example another table whose scope is this table's name.
  std::erase_if(found, [](const auto& part) { return part.second.chunks.empty(); });
  return found;
}

// Returns those parts of the checkpoint's table that may have keys of `part`. `all` must not be
// empty. DATA_LOSS if a part is missing or there are too many.
absl::StatusOr<std::vector<SavedPart>> PartsFor(const std::string& what, const TablePart& part,
                                                std::map<std::string, SavedPart>& all) {
  const std::string any = all.begin()->first;
  int64_t count = 0;
  if (!absl::SimpleAtoi(any.substr(any.find("-of-") + 4), &count)) count = 0;
  std::vector<SavedPart> parts;
  for (int64_t s = 0; s < count; ++s) {
    const std::string name = StrCat(s, "-of-", count);
    const auto found = all.find(name);
    if (found == all.end()) {
      return absl::DataLossError(
          StrCat(what, ": expected ", count, " parts, but part '", name, "' is missing"));
    }
    // A part has a range of hashes (RowStore::ShardOf), so checks whether the two ranges overlap.
    using Wide = __int128;  // numbers in files may be large
    const bool may_share = Wide{s} * part.num_shards < (Wide{part.shard} + 1) * count &&
                           Wide{part.shard} * count < (Wide{s} + 1) * part.num_shards;
    if (may_share) parts.push_back(found->second);
  }
  if (all.size() == static_cast<uint64_t>(count)) return parts;
  return absl::DataLossError(
      StrCat(what, ": expected ", count, " parts because of part '", any, "', got ", all.size()));
}

// Checks the types and shapes of all chunks without reading their records.
absl::Status CheckChunks(const std::string& what, const SavedPart& part, const TensorSource& from,
                         const RowStore& store) {
  for (const std::string& chunk : part.chunks) {
    RecordTypes types;
    for (size_t i = 0; i < types.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(types[i], from.TypeOf(chunk + kRecordColumns[i].name));
    }
    SLUICE_RETURN_IF_ERROR(CheckRecords(what, types, store));
  }
  return absl::OkStatus();
}

// Reads all tensors of a part and drops them, so that a tensor that cannot be read is found before
// the table changes.
absl::Status TryToRead(const TensorSource& from, const SavedPart& part) {
  std::vector<std::string> names = part.filter;
  for (const std::string& chunk : part.chunks) {
    for (const RecordColumn& column : kRecordColumns) names.push_back(chunk + column.name);
  }
  for (const std::string& chunk : part.waiting) {
    names.push_back(chunk + "keys");
    names.push_back(chunk + "counts");
  }
  if (!part.rules.empty()) {
    names.push_back(part.rules + "steps");
    names.push_back(part.rules + "ages");
  }
  for (const std::string& name : names) SLUICE_RETURN_IF_ERROR(from.Read(name).status());
  return absl::OkStatus();
}

void RemoveAll(RowStore& store) {
  constexpr int64_t kAtOnce = 1 << 16;
  const int64_t end = store.end();
  for (int64_t begin = 0; begin < end; begin += kAtOnce) {
    store.Remove(store
                     .Export(static_cast<Records::Number>(begin),
                             static_cast<Records::Number>(std::min(begin + kAtOnce, end)))
                     .keys);
  }
}

}  // namespace

absl::Status CheckRecords(const std::string& what, const RecordTypes& types,
                          const RowStore& store) {
  const int64_t slots = store.slots() == 0 ? SlotsOf(types[2].second) : store.slots();
  SLUICE_ASSIGN_OR_RETURN(const RecordTypes expected,
                          TypesOf(types[0].second.num_elements(), slots, store.options()));
  for (size_t i = 0; i < types.size(); ++i) {
    SLUICE_INVALID_IF(types[i] != expected[i], what, ": expected ", kRecordColumns[i].name,
                      " of type ", DataTypeName(expected[i].first), " and shape ",
                      expected[i].second.ToString(), ", got ", DataTypeName(types[i].first),
                      " and ", types[i].second.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<RecordTensors> ExportRecords(const RowStore& store, int64_t begin, int64_t end) {
  const RowStore::Contents contents =
      store.Export(static_cast<Records::Number>(begin), static_cast<Records::Number>(end));
  const auto n = static_cast<int64_t>(contents.keys.size());
  const auto& [dtype, dim] = std::pair(store.options().dtype, store.options().dim);
  RecordTensors r;
  SLUICE_ASSIGN_OR_RETURN(r.keys, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.rows, Tensor::Allocate(LimitedHeap(), dtype, TensorShape({n, dim})));
  SLUICE_ASSIGN_OR_RETURN(
      r.slots, Tensor::Allocate(LimitedHeap(), dtype, TensorShape({n, store.slots(), dim})));
  SLUICE_ASSIGN_OR_RETURN(r.counts, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  SLUICE_ASSIGN_OR_RETURN(r.steps, Tensor::Allocate(LimitedHeap(), DT_INT64, TensorShape({n})));
  std::copy(contents.keys.begin(), contents.keys.end(), r.keys.data<int64_t>());
  std::copy(contents.rows.begin(), contents.rows.end(), static_cast<char*>(r.rows.raw()));
  std::copy(contents.counts.begin(), contents.counts.end(), r.counts.data<int64_t>());
  std::copy(contents.steps.begin(), contents.steps.end(), r.steps.data<int64_t>());
  // The store orders slots by slot number and then by key. The tensor orders them by key first.
  char* slot = static_cast<char*>(r.slots.raw());
  for (int64_t i = 0; i < n; ++i) {
    for (const std::vector<char>& column : contents.slots) {
      slot = std::copy_n(column.data() + i * store.row_bytes(), store.row_bytes(), slot);
    }
  }
  return r;
}

absl::Status ImportRecords(const std::string& what, const RecordTensors& r,
                           absl::FunctionRef<bool(int64_t key)> accepts, RowStore& store) {
  SLUICE_RETURN_IF_ERROR(CheckRecords(what, TypesOf(r), store));
  const int64_t slots = store.slots(), row_bytes = store.row_bytes();
  const char* rows = static_cast<const char*>(r.rows.raw());
  const char* all_slots = static_cast<const char*>(r.slots.raw());
  std::vector<const char*> slot(static_cast<size_t>(slots));
  for (int64_t i = 0; i < r.keys.num_elements(); ++i) {
    const int64_t key = r.keys.data<int64_t>()[i];
    if (!accepts(key)) continue;
    for (int64_t s = 0; s < slots; ++s) {
      slot[static_cast<size_t>(s)] = all_slots + (i * slots + s) * row_bytes;
    }
    const auto count = std::clamp<int64_t>(r.counts.data<int64_t>()[i], 0, UINT32_MAX);
    const int64_t step = std::clamp<int64_t>(r.steps.data<int64_t>()[i], 0, INT64_MAX - 1);
    SLUICE_RETURN_IF_ERROR(
        store.Put(key, rows + i * row_bytes, slot, static_cast<uint32_t>(count), step));
  }
  return absl::OkStatus();
}

// Saves the keys that wait for admission first. So a key that is admitted meanwhile is saved as
// waiting, and perhaps with its record too, but is never lost.
absl::Status SaveTable(RowStore& store, const TablePart& part, AddTensor add) {
  constexpr int64_t kChunkBytes = int64_t{16} << 20;
  const int64_t chunk = std::max<int64_t>(1, kChunkBytes / (store.row_bytes() + 24));
  const std::string folder = StrCat(part.table, "/", part.shard, "-of-", part.num_shards, "/");
  SLUICE_RETURN_IF_ERROR(SaveRules(store, folder + "rules/", add));
  const int64_t end = store.end();
  // If the table has no records, one empty chunk is saved.
  for (int64_t begin = 0, number = 0; begin < std::max<int64_t>(end, 1); begin += chunk, ++number) {
    SLUICE_ASSIGN_OR_RETURN(const RecordTensors records,
                            ExportRecords(store, begin, std::min(begin + chunk, end)));
    const std::string name = folder + absl::StrFormat("%05d/", number);
    for (const RecordColumn& column : kRecordColumns) {
      SLUICE_RETURN_IF_ERROR(add(name + column.name, records.*column.tensor));
    }
  }
  return absl::OkStatus();
}

absl::Status RestoreTable(const TensorSource& checkpoint, const TablePart& part, RowStore& store) {
  std::map<std::string, SavedPart> all = PartsOf(checkpoint, part.table);
  if (all.empty()) {
    return absl::NotFoundError(StrCat("Key ", part.table, " not found in checkpoint ",
                                      checkpoint.Describe(), ": expected an embedding table"));
  }
  const std::string what =
      StrCat("checkpoint ", checkpoint.Describe(), ", table '", part.table, "'");
  SLUICE_ASSIGN_OR_RETURN(const std::vector<SavedPart> parts, PartsFor(what, part, all));
  for (const SavedPart& saved : parts) {
    SLUICE_RETURN_IF_ERROR(CheckChunks(what, saved, checkpoint, store));
    SLUICE_RETURN_IF_ERROR(CheckRules(what, checkpoint, saved));
  }
  // A new table has nothing to lose, so a program's start reads the checkpoint only once.
  const bool was_used = store.size() > 0 || store.update_calls() > 0;
  for (const SavedPart& saved : parts) {
    if (was_used) SLUICE_RETURN_IF_ERROR(TryToRead(checkpoint, saved));
  }
  RemoveAll(store);
  store.ForgetSteps();
  const auto is_own = [&](int64_t key) {
    return RowStore::ShardOf(key, static_cast<uint64_t>(part.num_shards)) == part.shard;
  };
  for (const SavedPart& saved : parts) {
    for (const std::string& chunk : saved.chunks) {
      RecordTensors records;
      for (const RecordColumn& column : kRecordColumns) {
        SLUICE_ASSIGN_OR_RETURN(records.*column.tensor, checkpoint.Read(chunk + column.name));
      }
      SLUICE_RETURN_IF_ERROR(ImportRecords(what, records, is_own, store));
    }
  }
  return RestoreRules(checkpoint, parts, is_own, store);
}

}  // namespace sluice
