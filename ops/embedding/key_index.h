// The index of an embedding table, which finds the number of a key's record (records.h). The index
// is an extendible hash table: a directory of pages, and pages of 63 buckets. The hash of a key
// determines its place in the directory (PlaceOf), and the first bits of the place select the page.
//
// A bucket is one cache line with up to 12 entries: a tag (8 bits of the hash) and a record number
// each. A key that finds its bucket full goes to the next one of the page. The full bucket counts
// such keys, so that a search ends at the first bucket whose count is 0. Removed keys leave no
// marks behind, unless a bucket ever counted 255 keys: then its count stays. A page with many keys
// is replaced by two. PlaceOf is not linear: pages at the beginning of the directory get twice as
// many keys as those at its end, so that pages become full at different times. So a growing index
// moves few keys at a time, at a constant rate.
//
// The hash depends on a random number, so that clients cannot choose keys with equal hashes.
//
// Thread safety: all methods may be called from any thread. Find takes no lock, and sees an
// insertion or a removal completely or not at all. FindOrInsert and Remove lock the page. The
// caller of any of them must hold a ReaderPhases::Reader during the call, and as long as it uses
// the record that was found. Invariants of lock-free searches: (1) an entry's record is complete
// before its tag is written; (2) an entry keeps its place until it is removed, or its page
// replaced; (3) a page that was replaced does not change anymore; (4) pages, directories and
// records that were removed stay readable for all readers that began before (ReaderPhases).
// Errors: RESOURCE_EXHAUSTED if there is no memory. The index is then as before.
#ifndef SLUICE_OPS_EMBEDDING_KEY_INDEX_H_
#define SLUICE_OPS_EMBEDDING_KEY_INDEX_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/mutex.h"
#include "ops/embedding/huge_pages.h"
#include "ops/embedding/reader_phases.h"
#include "ops/embedding/records.h"

namespace sluice {

class KeyIndex {
 private:
  static constexpr int kEntries = 12;  // per bucket
  struct Bucket;
  struct Page;
  // A directory is an array of 1 << depth pointers to pages. If a page has a smaller depth, several
  // pointers point to it.
  using Slot = std::atomic<Page*>;

 public:
  // Both must outlive the index.
  KeyIndex(Records* records, ReaderPhases* phases);
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  // A hash that is the same in all processes and versions, because it decides which server has a
  // key (RowStore::ShardOf).
  static uint64_t StableHash(int64_t key) {
    auto h = static_cast<uint64_t>(key);
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
    return h ^ h >> 33;
  }

  // A search in four steps: Begin, FetchBucket, Guess and Find. The caller does each step for
  // several keys before the next step, so that their loads from memory overlap.
  struct Search {
    int64_t key;
    uint64_t hash;
    const Slot* slot;
    const Bucket* bucket;
    Record* guess;
    bool is_absent;  // the key is known to have no entry
  };
  // Prefetches the directory's pointer to the page of the key.
  void Begin(int64_t key, Search& search) const {
    search.key = key;
    search.hash = HashOf(key);
    search.slot = SlotOf(search.hash);
    __builtin_prefetch(search.slot);
  }
  // Prefetches the bucket of the key.
  static void FetchBucket(Search& search) {
    search.bucket = search.slot->load(std::memory_order_acquire)->buckets + HomeOf(search.hash);
    __builtin_prefetch(search.bucket);
  }
  // Sets `guess` to the likely record of the key, or null, so that the caller can fetch it.
  void Guess(Search& search) const {
    const uint64_t second = search.bucket->tags[1].load(std::memory_order_acquire);
    const uint64_t first = search.bucket->tags[0].load(std::memory_order_acquire);
    const uint64_t matches = Matches(first, second, TagOf(search.hash));
    search.is_absent = matches == 0 && second >> kOverflowShift == 0;
    search.guess = nullptr;
    if (matches != 0) {
      search.guess =
          records_->at(search.bucket->numbers[EntryOf(matches)].load(std::memory_order_acquire));
    }
  }
  // Returns the record of the key, or null if the key is not in the index.
  Record* Find(const Search& search) const {
    if (search.guess != nullptr && search.guess->key == search.key) return search.guess;
    return search.is_absent ? nullptr : FindAll(search.key, search.hash);
  }
  // Prefetches the lock of the key's page, which FindOrInsert takes.
  void PrefetchInsertion(const Search& search) const { __builtin_prefetch(PageOf(search.hash), 1); }

  struct Found {
    Records::Number number;
    bool is_new;
  };
  // FindOrInsert finds the key. If the key is not in the index, it calls `make` under the lock of
  // the page, and inserts the key with the record number that `make` returns. The record must
  // already contain the key. If `make` returns kNone, nothing is inserted.
  using Maker = absl::FunctionRef<absl::StatusOr<Records::Number>()>;
  absl::StatusOr<Found> FindOrInsert(int64_t key, Maker make);
  // Removes the key if `may_remove` accepts its record. Calls `may_remove` under the lock of the
  // page. Returns the number of the record, or kNone if nothing was removed. Readers may still see
  // the record.
  Records::Number Remove(int64_t key, absl::FunctionRef<bool(Records::Number)> may_remove);

  int64_t size() const { return size_.load(std::memory_order_relaxed); }
  int64_t bytes() const;

 private:
  static constexpr int kTagsInFirstWord = 8;
  // Bit positions in the second word of Bucket::tags: of the first hint (HintOf), and of the number
  // of keys that found the bucket full and went on to the next one.
  static constexpr int kHintShift = 32, kOverflowShift = 56;
  static constexpr uint64_t kTagsOfSecondWord = 0xffffffff;
  static constexpr int kBuckets = 63;  // per page
  static constexpr int kDepthMax = 30;
  static constexpr uint64_t kDepthMask = 63;
  // If a page has this many keys, an insertion replaces it by two pages.
  static constexpr int kKeysMax = kBuckets * kEntries * 13 / 16;

  struct alignas(64) Bucket {
    // The tags: a byte per entry, 0 if the entry is empty. The second word also contains a hint of
    // 2 bits per entry (HintOf), and the number of keys that found the bucket full and went on to
    // the next one.
    std::atomic<uint64_t> tags[2] = {};
    std::atomic<Records::Number> numbers[kEntries] = {};
  };
  static_assert(sizeof(Bucket) == 64);

  struct alignas(64) Page {
    explicit Page(int bits) : depth(bits) {}

    Mutex mutex;
    const int depth;  // the number of leading bits that all places in the page share
    int count ABSL_GUARDED_BY(mutex) = 0;
    bool was_replaced ABSL_GUARDED_BY(mutex) = false;
    Bucket buckets[kBuckets];
  };
  static_assert(sizeof(Page) == IndexPages::kBytes);

  struct Entry {
    int bucket;
    int entry;
    Records::Number number;
  };

  uint64_t HashOf(int64_t key) const {
    const auto product = static_cast<unsigned __int128>(static_cast<uint64_t>(key) ^ seeds_[0]) *
                         static_cast<unsigned __int128>(seeds_[1]);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  // The place of a hash in the directory, as a fraction of 2^32.
  uint64_t PlaceOf(uint64_t hash) const {
    const uint64_t part = hash >> (64 - kPartBits);
    const uint64_t rest = hash << kPartBits >> 38;  // 26 bits
    return place_of_part_[part] + ((place_of_part_[part + 1] - place_of_part_[part]) * rest >> 26);
  }
  static int HomeOf(uint64_t hash) {
    return static_cast<int>((hash >> 16 & 0xffff) * kBuckets >> 16);
  }
  static uint64_t TagOf(uint64_t hash) { return (hash & 0xff) == 0 ? 1 : hash & 0xff; }
  static int Next(int bucket) { return bucket + 1 == kBuckets ? 0 : bucket + 1; }
  static constexpr uint64_t kHighBits = 0x8080808080808080;
  // Returns a word with the high bit of each byte that is equal in `tags` and `all`.
  static uint64_t EqualBytes(uint64_t tags, uint64_t all) {
    const uint64_t different = tags ^ all;
    return ~(((different & ~kHighBits) + ~kHighBits) | different) & kHighBits;
  }
  // Returns one bit per entry that has the tag: bit 8 e + 7 for entry e of the first word, and bit
  // 8 e + 6 for entry e of the second word.
  static uint64_t Matches(uint64_t first, uint64_t second, uint64_t tag) {
    const uint64_t all = tag * 0x0101010101010101;
    return EqualBytes(first, all) | (EqualBytes(second, all) & kTagsOfSecondWord) >> 1;
  }
  // Returns an entry of `matches`, which must not be 0.
  static int EntryOf(uint64_t matches) {
    const int bit = std::countr_zero(matches);
    return bit / 8 + (~bit & 1) * kTagsInFirstWord;
  }
  static void SetTag(Bucket& bucket, int entry, uint64_t tag);
  static void AddOverflow(Bucket& bucket, int64_t added);
  // A split replaces a full page by two. The hint of an entry says to which of the two the next
  // split moves the entry: kLow or kHigh. With a hint, the split need not read the entry's record.
  // Only entries in the first bucket of their search (HomeOf) can have a hint.
  static constexpr uint64_t kNoHint = 0, kLow = 2, kHigh = 3;
  static uint64_t HintOf(uint64_t place, int depth) {
    return (place >> (31 - depth) & 1) != 0 ? kHigh : kLow;
  }
  // Writes the tag and the number to the first free entry in bucket `home` or the buckets after it.
  // Writes the hint only if the entry is in `home`.
  static void Put(Page& page, int home, uint64_t tag, uint64_t hint, Records::Number number);

  static Slot* SlotsOf(uint64_t directory) {
    return reinterpret_cast<Slot*>(directory & ~kDepthMask);
  }
  const Slot* SlotOf(uint64_t hash) const {
    const uint64_t word = directory_.load(std::memory_order_acquire);
    return SlotsOf(word) + (PlaceOf(hash) >> (32 - (word & kDepthMask)));
  }
  Page* PageOf(uint64_t hash) const { return SlotOf(hash)->load(std::memory_order_acquire); }
  std::optional<Entry> FindIn(const Page& page, int64_t key, uint64_t hash) const;
  Record* FindAll(int64_t key, uint64_t hash) const;
  absl::StatusOr<Page*> NewPage(int depth);
  // Replaces `page`, the page of `hash`, by two. If the directory has to be doubled, sets
  // `old_directory` to the directory that was replaced. The caller frees the page and the old
  // directory when no reader can see them.
  absl::Status Split(Page& page, uint64_t hash, Slot** old_directory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(page.mutex);
  // Copies the keys of a page, whose lock is held, to two pages that no other thread can reach.
  // Their locks are not needed.
  void Distribute(const Page& page, Page& low, Page& high) const ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Does the first part of Distribute: copies the entries that have hints to `low` and `high`.
  // Writes the records and the numbers of the other entries to `rest` and `numbers`, and returns
  // how many there are.
  static int DistributeByHints(const Page& page, Page& low, Page& high, const Records& records,
                               const Record** rest, Records::Number* numbers)
      ABSL_NO_THREAD_SAFETY_ANALYSIS;  // for the reason given at Distribute
  absl::Status DoubleDirectory(Slot** old_directory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(directory_mutex_);
  void RetirePage(Page* page);
  void RetireDirectory(Slot* directory);

  static constexpr int kPartBits = 6;

  Records* const records_;
  ReaderPhases* const phases_;
  std::atomic<uint64_t> directory_;  // its address, a multiple of 64, plus its depth
  std::array<uint64_t, 2> seeds_;
  std::array<uint64_t, (1 << kPartBits) + 1> place_of_part_;
  std::atomic<int64_t> size_{0};
  std::atomic<int64_t> directory_bytes_{0};
  Mutex directory_mutex_;  // held to change the directory, after the lock of the page that is split
  IndexPages pages_;
  alignas(64) Slot first_directory_;
  Page first_page_{0};
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_KEY_INDEX_H_
