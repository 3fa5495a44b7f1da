// The index of an embedding table: record numbers by key, with open addressing.
//
// A bucket is one cache line with up to 12 entries: a tag (8 bits of the hash) and a record number
// each. A key that finds its bucket full goes to the next one. The full bucket counts such keys, so
// that a search ends at the first bucket whose count is 0, and removed keys leave no marks behind.
// The buckets belong to 1,024 shards by hash. Each shard grows by itself, by half, and the sizes of
// the shards are staggered. So a growing index rehashes small parts at a constant rate.
//
// Thread safety: all methods may be called from any thread. Find takes no lock. It needs a
// ReaderPhases::Reader, as does the use of the record that it returns. It sees an insertion or a
// removal completely or not at all. FindOrInsert and Remove lock the shard.
// Invariants of lock-free searches: (1) an entry's record is complete before its tag is written;
// (2) an entry keeps its place until it is removed; (3) arrays and records that were removed stay
// readable for readers that were there before (ReaderPhases).
// Errors: RESOURCE_EXHAUSTED if there is no memory. The index is then as before.
#ifndef SLUICE_OPS_EMBEDDING_KEY_INDEX_H_
#define SLUICE_OPS_EMBEDDING_KEY_INDEX_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/mutex.h"
#include "ops/embedding/reader_phases.h"
#include "ops/embedding/records.h"

namespace sluice {

class KeyIndex {
 public:
  // Both must outlive the index.
  KeyIndex(Records* records, ReaderPhases* phases);
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  // The same in all processes and versions, because it also assigns keys to servers.
  static uint64_t HashOf(int64_t key) {
    auto h = static_cast<uint64_t>(key);
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
    return h ^ h >> 33;
  }

  // Fetches the bucket of the hash, without waiting for it.
  void Prefetch(uint64_t hash) const {
    const Array* array = ArrayOf(hash);
    __builtin_prefetch(array->buckets() + array->HomeOf(hash));
  }
  // A number that is likely to be that of a key with this hash, to fetch its record early.
  Records::Number Guess(uint64_t hash) const;
  // Records::kNone if the key is not in the index.
  Records::Number Find(int64_t key, uint64_t hash) const;

  struct Found {
    Records::Number number;
    bool is_new;
  };
  // Finds the key. If it is not in the index, inserts it with the record number that `make`
  // returns; the record must have the key. Calls `make` under the lock of the shard.
  using Maker = absl::FunctionRef<absl::StatusOr<Records::Number>()>;
  absl::StatusOr<Found> FindOrInsert(int64_t key, uint64_t hash, Maker make);
  // Removes the key if `may_remove` accepts its record. Calls `may_remove` under the lock of the
  // shard. Returns the number of the record, or kNone if nothing was removed. Readers may still see
  // the record.
  Records::Number Remove(int64_t key, uint64_t hash,
                         absl::FunctionRef<bool(Records::Number)> may_remove);

  int64_t size() const { return size_.load(std::memory_order_relaxed); }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kShardBits = 10;
  static constexpr int kShards = 1 << kShardBits;
  static constexpr int kEntries = 12;  // per bucket
  static constexpr int kTagsInFirstWord = 8;
  static constexpr int kOverflowShift = 32;  // in the second word

  struct alignas(64) Bucket {
    // A byte per entry, 0 if it is empty. The upper half of the second word is the number of keys
    // that went on to the next bucket.
    std::atomic<uint64_t> tags[2] = {};
    std::atomic<Records::Number> numbers[kEntries] = {};
  };
  static_assert(sizeof(Bucket) == 64);

  struct alignas(64) Array {
    uint64_t size;  // buckets, which follow
    Bucket* buckets() const { return reinterpret_cast<Bucket*>(const_cast<Array*>(this) + 1); }
    // By bits of the hash that choose neither the shard nor the tag.
    uint64_t HomeOf(uint64_t hash) const { return (hash >> 22 & 0xffffffff) * size >> 32; }
    uint64_t Next(uint64_t bucket) const { return bucket + 1 == size ? 0 : bucket + 1; }
    // The number of keys beyond which the shard grows.
    int64_t limit() const {
      return size == 1 ? 0 : static_cast<int64_t>(size * kEntries * 13 / 16);
    }
    int64_t bytes() const { return size == 1 ? 0 : static_cast<int64_t>(64 * (size + 1)); }
  };

  struct alignas(64) Shard {
    Mutex mutex;
    int64_t count ABSL_GUARDED_BY(mutex) = 0;
  };

  struct Place {
    uint64_t bucket;
    int entry;
    Records::Number number;
  };

  static int ShardOf(uint64_t hash) { return static_cast<int>(hash >> (64 - kShardBits)); }
  static uint64_t TagOf(uint64_t hash) { return (hash & 0xff) == 0 ? 1 : hash & 0xff; }
  // A bit, the highest of a byte, for each entry with the tag.
  static uint64_t Matches(uint64_t tags, uint64_t tag);
  static absl::StatusOr<Array*> NewArray(uint64_t size);
  static void FreeArray(Array* array);
  static void SetTag(Bucket& bucket, int entry, uint64_t tag);
  static void AddOverflow(Bucket& bucket, int64_t added);
  // Writes the number to the first free entry from the home of the hash on.
  static void Put(Array& array, uint64_t hash, Records::Number number);

  const Array* ArrayOf(uint64_t hash) const {
    return arrays_[ShardOf(hash)].load(std::memory_order_acquire);
  }
  std::optional<Place> FindIn(const Array& array, int64_t key, uint64_t hash) const;
  absl::Status Grow(int shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shards_[shard].mutex);
  void CopyEntries(const Array& from, Array& to) const;

  Records* const records_;
  ReaderPhases* const phases_;
  std::unique_ptr<Shard[]> shards_;
  std::unique_ptr<std::atomic<Array*>[]> arrays_;  // by shard
  std::atomic<int64_t> size_{0};
  std::atomic<int64_t> bytes_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_KEY_INDEX_H_
