#include "ops/embedding/key_index.h"

#include <bit>
#include <cmath>
#include <new>
#include <vector>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr uint64_t kLowBits = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;
constexpr uint64_t kTagsOfSecondWord = 0xffffffff;

}  // namespace

// The well-known test for zero bytes. Only its lowest result is exact.
uint64_t KeyIndex::Matches(uint64_t tags, uint64_t tag) {
  const uint64_t different = tags ^ tag * kLowBits;
  return (different - kLowBits) & ~different & kHighBits;
}

absl::StatusOr<KeyIndex::Array*> KeyIndex::NewArray(uint64_t size) {
  void* block =
      ::operator new (sizeof(Array) + size * sizeof(Bucket), std::align_val_t{64}, std::nothrow);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        StrCat("embedding table: no memory for ", size, " buckets of keys"));
  }
  auto* array = new (block) Array{size};
  for (uint64_t i = 0; i < size; ++i) new (array->buckets() + i) Bucket;
  return array;
}

void KeyIndex::FreeArray(Array* array) { ::operator delete (array, std::align_val_t{64}); }

KeyIndex::KeyIndex(Records* records, ReaderPhases* phases)
    : records_(records),
      phases_(phases),
      shards_(new Shard[kShards]),
      arrays_(new std::atomic<Array*>[kShards]) {
  // Shards without keys share an array with one empty bucket. All other arrays have more.
  struct EmptyArray {
    Array array{1};
    Bucket bucket;
  };
  static EmptyArray* empty = new EmptyArray;
  for (int i = 0; i < kShards; ++i) arrays_[i].store(&empty->array);
}

KeyIndex::~KeyIndex() {
  for (int i = 0; i < kShards; ++i) {
    if (arrays_[i].load()->size > 1) FreeArray(arrays_[i].load());
  }
}

Records::Number KeyIndex::Guess(uint64_t hash) const {
  const Array* array = ArrayOf(hash);
  const Bucket& bucket = array->buckets()[array->HomeOf(hash)];
  const uint64_t tag = TagOf(hash);
  uint64_t match = Matches(bucket.tags[0].load(std::memory_order_acquire), tag);
  int first = 0;
  if (match == 0) {
    first = kTagsInFirstWord;
    match = Matches(bucket.tags[1].load(std::memory_order_acquire), tag) & kTagsOfSecondWord;
    if (match == 0) return Records::kNone;
  }
  return bucket.numbers[first + std::countr_zero(match) / 8].load(std::memory_order_relaxed);
}

std::optional<KeyIndex::Place> KeyIndex::FindIn(const Array& array, int64_t key,
                                                uint64_t hash) const {
  const uint64_t tag = TagOf(hash);
  uint64_t at = array.HomeOf(hash);
  for (uint64_t visited = 0; visited < array.size; ++visited, at = array.Next(at)) {
    const Bucket& bucket = array.buckets()[at];
    const uint64_t second = bucket.tags[1].load(std::memory_order_acquire);
    const uint64_t words[] = {bucket.tags[0].load(std::memory_order_acquire),
                              second & kTagsOfSecondWord};
    for (int w = 0; w < 2; ++w) {
      for (uint64_t match = Matches(words[w], tag); match != 0; match &= match - 1) {
        const int byte = std::countr_zero(match) / 8;
        if ((words[w] >> 8 * byte & 0xff) != tag) continue;
        const int entry = w * kTagsInFirstWord + byte;
        const Records::Number number = bucket.numbers[entry].load(std::memory_order_acquire);
        if (records_->at(number)->key == key) return Place{at, entry, number};
      }
    }
    if (second >> kOverflowShift == 0) break;
  }
  return std::nullopt;
}

Records::Number KeyIndex::Find(int64_t key, uint64_t hash) const {
  const std::optional<Place> place = FindIn(*ArrayOf(hash), key, hash);
  return place ? place->number : Records::kNone;
}

// Only the holder of the shard's lock writes, so that these need no atomic read-modify-write.
void KeyIndex::SetTag(Bucket& bucket, int entry, uint64_t tag) {
  std::atomic<uint64_t>& word = bucket.tags[entry / kTagsInFirstWord];
  const int shift = entry % kTagsInFirstWord * 8;
  const uint64_t others = word.load(std::memory_order_relaxed) & ~(uint64_t{0xff} << shift);
  word.store(others | tag << shift, std::memory_order_release);
}

void KeyIndex::AddOverflow(Bucket& bucket, int64_t added) {
  const uint64_t word = bucket.tags[1].load(std::memory_order_relaxed);
  bucket.tags[1].store(word + (static_cast<uint64_t>(added) << kOverflowShift),
                       std::memory_order_release);
}

void KeyIndex::Put(Array& array, uint64_t hash, Records::Number number) {
  for (uint64_t at = array.HomeOf(hash);; at = array.Next(at)) {
    Bucket& bucket = array.buckets()[at];
    uint64_t free = Matches(bucket.tags[0].load(std::memory_order_relaxed), 0);
    int entry = std::countr_zero(free) / 8;
    if (free == 0) {
      free = Matches(bucket.tags[1].load(std::memory_order_relaxed), 0) & kTagsOfSecondWord;
      entry = kTagsInFirstWord + std::countr_zero(free) / 8;
    }
    if (free != 0) {
      bucket.numbers[entry].store(number, std::memory_order_release);
      SetTag(bucket, entry, TagOf(hash));
      return;
    }
    AddOverflow(bucket, 1);
  }
}

absl::StatusOr<KeyIndex::Found> KeyIndex::FindOrInsert(int64_t key, uint64_t hash, Maker make) {
  const int shard = ShardOf(hash);
  ScopedLock lock(&shards_[shard].mutex);
  if (const auto place = FindIn(*ArrayOf(hash), key, hash)) return Found{place->number, false};
  if (shards_[shard].count >= ArrayOf(hash)->limit()) {
    SLUICE_RETURN_IF_ERROR(Grow(shard));
  }
  SLUICE_ASSIGN_OR_RETURN(const Records::Number number, make());
  Put(*arrays_[shard].load(std::memory_order_relaxed), hash, number);
  ++shards_[shard].count;
  size_.fetch_add(1, std::memory_order_relaxed);
  return Found{number, true};
}

Records::Number KeyIndex::Remove(int64_t key, uint64_t hash,
                                 absl::FunctionRef<bool(Records::Number)> may_remove) {
  const int shard = ShardOf(hash);
  ScopedLock lock(&shards_[shard].mutex);
  Array& array = *arrays_[shard].load(std::memory_order_relaxed);
  const std::optional<Place> place = FindIn(array, key, hash);
  if (!place || !may_remove(place->number)) return Records::kNone;
  SetTag(array.buckets()[place->bucket], place->entry, 0);
  for (uint64_t at = array.HomeOf(hash); at != place->bucket; at = array.Next(at)) {
    AddOverflow(array.buckets()[at], -1);
  }
  --shards_[shard].count;
  size_.fetch_sub(1, std::memory_order_relaxed);
  return place->number;
}

// The sizes of shard s are 1.5^(n + s / kShards) for n = 0, 1, 2, ..., rounded up.
absl::Status KeyIndex::Grow(int shard) {
  Array* old = arrays_[shard].load(std::memory_order_relaxed);
  double exact = std::pow(1.5, static_cast<double>(shard) / kShards);
  while (static_cast<uint64_t>(std::ceil(exact)) <= old->size) exact *= 1.5;
  const auto size = static_cast<uint64_t>(std::ceil(exact));
  SLUICE_ASSIGN_OR_RETURN(Array * grown, NewArray(size));
  CopyEntries(*old, *grown);
  arrays_[shard].store(grown, std::memory_order_release);
  bytes_.fetch_add(grown->bytes() - old->bytes(), std::memory_order_relaxed);
  if (old->limit() > 0) phases_->Retire([old] { FreeArray(old); });
  return absl::OkStatus();
}

void KeyIndex::CopyEntries(const Array& from, Array& to) const {
  std::vector<Records::Number> numbers;
  numbers.reserve(from.size * kEntries);
  for (uint64_t b = 0; b < from.size; ++b) {
    const Bucket& bucket = from.buckets()[b];
    for (int e = 0; e < kEntries; ++e) {
      const uint64_t tags = bucket.tags[e / kTagsInFirstWord].load(std::memory_order_relaxed);
      if ((tags >> (e % kTagsInFirstWord * 8) & 0xff) == 0) continue;
      numbers.push_back(bucket.numbers[e].load(std::memory_order_relaxed));
    }
  }
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i + kAhead < numbers.size()) __builtin_prefetch(records_->at(numbers[i + kAhead]));
    Put(to, HashOf(records_->at(numbers[i])->key), numbers[i]);
  }
}

}  // namespace sluice
