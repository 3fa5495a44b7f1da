#include "ops/embedding/key_index.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <random>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr std::align_val_t kDirectoryAlignment{64};

}  // namespace

// The places divide the directory so that the density of keys falls by half from the first to the
// last one: place = -log2(1 - hash / 2), with both as fractions of 1. 64 linear pieces approximate
// this function.
KeyIndex::KeyIndex(Records* records, ReaderPhases* phases)
    : records_(records), phases_(phases), first_directory_(&first_page_) {
  directory_.store(reinterpret_cast<uintptr_t>(&first_directory_));
  std::random_device random;
  for (uint64_t& seed : seeds_) seed = uint64_t{random()} << 32 | random() | 1;
  const size_t parts = place_of_part_.size() - 1;
  for (size_t i = 0; i <= parts; ++i) {
    const double hash = static_cast<double>(i) / static_cast<double>(parts);
    place_of_part_[i] = static_cast<uint64_t>(std::round(-std::log2(1 - hash / 2) * 0x1p32));
  }
}

KeyIndex::~KeyIndex() {
  phases_->RunAll();  // they free pages
  Slot* directory = SlotsOf(directory_.load());
  if (directory != &first_directory_) ::operator delete(directory, kDirectoryAlignment);
}

int64_t KeyIndex::bytes() const {
  return static_cast<int64_t>(sizeof(Page)) + pages_.bytes() +
         directory_bytes_.load(std::memory_order_relaxed);
}

std::optional<KeyIndex::Entry> KeyIndex::FindIn(const Page& page, int64_t key,
                                                uint64_t hash) const {
  const uint64_t tag = TagOf(hash);
  int at = HomeOf(hash);
  for (int visited = 0; visited < kBuckets; ++visited, at = Next(at)) {
    const Bucket& bucket = page.buckets[at];
    const uint64_t second = bucket.tags[1].load(std::memory_order_acquire);
    const uint64_t first = bucket.tags[0].load(std::memory_order_acquire);
    for (uint64_t match = Matches(first, second, tag); match != 0; match &= match - 1) {
      const int entry = EntryOf(match);
      const Records::Number number = bucket.numbers[entry].load(std::memory_order_acquire);
      if (records_->at(number)->key == key) return Entry{at, entry, number};
    }
    if (second >> kOverflowShift == 0) break;
  }
  return std::nullopt;
}

Record* KeyIndex::FindAll(int64_t key, uint64_t hash) const {
  const std::optional<Entry> entry = FindIn(*PageOf(hash), key, hash);
  return entry ? records_->at(entry->number) : nullptr;
}

// Only the holder of the page's lock writes, so that these need no atomic read-modify-write.
void KeyIndex::SetTag(Bucket& bucket, int entry, uint64_t tag) {
  std::atomic<uint64_t>& word = bucket.tags[entry / kTagsInFirstWord];
  const int shift = entry % kTagsInFirstWord * 8;
  const uint64_t others = word.load(std::memory_order_relaxed) & ~(uint64_t{0xff} << shift);
  word.store(others | tag << shift, std::memory_order_release);
}

// The largest count stays, because it may stand for more keys.
void KeyIndex::AddOverflow(Bucket& bucket, int64_t added) {
  constexpr uint64_t kLargest = ~uint64_t{0} >> kOverflowShift;
  const uint64_t word = bucket.tags[1].load(std::memory_order_relaxed);
  if (word >> kOverflowShift == kLargest) return;
  bucket.tags[1].store(word + (static_cast<uint64_t>(added) << kOverflowShift),
                       std::memory_order_release);
}

void KeyIndex::Put(Page& page, int home, uint64_t tag, uint64_t hint, Records::Number number) {
  for (int at = home;; at = Next(at)) {
    Bucket& bucket = page.buckets[at];
    const uint64_t second = bucket.tags[1].load(std::memory_order_relaxed);
    const uint64_t free = Matches(bucket.tags[0].load(std::memory_order_relaxed), second, 0);
    if (free != 0) {
      const int entry = EntryOf(free), shift = kHintShift + 2 * entry;
      bucket.numbers[entry].store(number, std::memory_order_release);
      const uint64_t others = second & ~(uint64_t{3} << shift);
      bucket.tags[1].store(others | (at == home ? hint : kNoHint) << shift,
                           std::memory_order_release);
      SetTag(bucket, entry, tag);
      return;
    }
    AddOverflow(bucket, 1);
  }
}

absl::StatusOr<KeyIndex::Found> KeyIndex::FindOrInsert(int64_t key, Maker make) {
  const uint64_t hash = HashOf(key);
  for (;;) {
    Page* page = PageOf(hash);
    ScopedLock lock(&page->mutex);
    // Then the directory has another page now.
    if (page->was_replaced) continue;
    if (const auto entry = FindIn(*page, key, hash)) return Found{entry->number, false};
    if (page->count < kKeysMax) {
      SLUICE_ASSIGN_OR_RETURN(const Records::Number number, make());
      if (number == Records::kNone) return Found{number, false};
      Put(*page, HomeOf(hash), TagOf(hash), HintOf(PlaceOf(hash), page->depth), number);
      ++page->count;
      size_.fetch_add(1, std::memory_order_relaxed);
      return Found{number, true};
    }
    Slot* old_directory = nullptr;
    SLUICE_RETURN_IF_ERROR(Split(*page, hash, &old_directory));
    lock.Unlock();
    RetirePage(page);
    if (old_directory != nullptr) RetireDirectory(old_directory);
    lock.Lock();  // as the analysis of locks expects at the end of the block
  }
}

Records::Number KeyIndex::Remove(int64_t key, absl::FunctionRef<bool(Records::Number)> may_remove) {
  const uint64_t hash = HashOf(key);
  for (;;) {
    Page* page = PageOf(hash);
    ScopedLock lock(&page->mutex);
    if (page->was_replaced) continue;
    const std::optional<Entry> entry = FindIn(*page, key, hash);
    if (!entry || !may_remove(entry->number)) return Records::kNone;
    SetTag(page->buckets[entry->bucket], entry->entry, 0);
    for (int at = HomeOf(hash); at != entry->bucket; at = Next(at)) {
      AddOverflow(page->buckets[at], -1);
    }
    --page->count;
    size_.fetch_sub(1, std::memory_order_relaxed);
    return entry->number;
  }
}

absl::StatusOr<KeyIndex::Page*> KeyIndex::NewPage(int depth) {
  void* memory = depth > kDepthMax ? nullptr : pages_.Allocate();
  if (memory == nullptr) {
    return absl::ResourceExhaustedError("embedding table: no memory for the index of keys");
  }
  return new (memory) Page(depth);
}

absl::Status KeyIndex::Split(Page& page, uint64_t hash, Slot** old_directory) {
  const int depth = page.depth;
  SLUICE_ASSIGN_OR_RETURN(Page * low, NewPage(depth + 1));
  absl::StatusOr<Page*> high = NewPage(depth + 1);
  absl::Status status = high.status();
  if (status.ok()) Distribute(page, *low, **high);
  ScopedLock lock(&directory_mutex_);
  if (status.ok() && static_cast<uint64_t>(depth) == (directory_.load() & kDepthMask)) {
    status = DoubleDirectory(old_directory);
  }
  if (!status.ok()) {
    pages_.Free(low);
    if (high.ok()) pages_.Free(*high);
    return status;
  }
  const uint64_t directory = directory_.load();
  const int copies_bits = static_cast<int>(directory & kDepthMask) - depth;
  const uint64_t copies = uint64_t{1} << copies_bits;  // of the page in the directory
  Slot* slot = SlotsOf(directory) + (PlaceOf(hash) >> (32 - depth) << copies_bits);
  for (uint64_t i = 0; i < copies; ++i) {
    slot[i].store(i < copies / 2 ? low : *high, std::memory_order_release);
  }
  page.was_replaced = true;
  return absl::OkStatus();
}

int KeyIndex::DistributeByHints(const Page& page, Page& low, Page& high, const Records& records,
                                const Record** rest, Records::Number* numbers) {
  int n = 0;
  for (int at = 0; at < kBuckets; ++at) {
    const Bucket& bucket = page.buckets[at];
    const uint64_t first = bucket.tags[0].load(std::memory_order_relaxed);
    const uint64_t second = bucket.tags[1].load(std::memory_order_relaxed);
    for (int e = 0; e < kEntries; ++e) {
      const uint64_t word = e < kTagsInFirstWord ? first : second;
      const uint64_t tag = word >> e % kTagsInFirstWord * 8 & 0xff;
      if (tag == 0) continue;
      const Records::Number number = bucket.numbers[e].load(std::memory_order_relaxed);
      const uint64_t hint = second >> (kHintShift + 2 * e) & 3;
      if (hint == kNoHint) {
        rest[n] = records.at(number);
        __builtin_prefetch(rest[n]);
        numbers[n++] = number;
      } else {
        Page& to = hint == kHigh ? high : low;
        Put(to, at, tag, kNoHint, number);
        ++to.count;
      }
    }
  }
  return n;
}

// The keys of the records without hints decide, and give hints for the next split.
void KeyIndex::Distribute(const Page& page, Page& low, Page& high) const {
  std::array<const Record*, kBuckets * kEntries> rest;
  std::array<Records::Number, kBuckets * kEntries> numbers;
  const int n = DistributeByHints(page, low, high, *records_, rest.data(), numbers.data());
  for (int i = 0; i < n; ++i) {
    const uint64_t hash = HashOf(rest[i]->key), place = PlaceOf(hash);
    Page& to = HintOf(place, page.depth) == kHigh ? high : low;
    Put(to, HomeOf(hash), TagOf(hash), HintOf(place, page.depth + 1), numbers[i]);
    ++to.count;
  }
}

absl::Status KeyIndex::DoubleDirectory(Slot** old_directory) {
  const uint64_t old = directory_.load();
  const uint64_t depth = old & kDepthMask, size = uint64_t{1} << depth;
  auto* slots = static_cast<Slot*>(
      ::operator new(2 * size * sizeof(Slot), kDirectoryAlignment, std::nothrow));
  if (slots == nullptr) {
    return absl::ResourceExhaustedError(
        StrCat("embedding table: no memory for a directory of ", 2 * size, " pages of keys"));
  }
  for (uint64_t i = 0; i < 2 * size; ++i) {
    new (slots + i) Slot(SlotsOf(old)[i / 2].load(std::memory_order_relaxed));
  }
  directory_.store(reinterpret_cast<uintptr_t>(slots) + depth + 1, std::memory_order_release);
  directory_bytes_.store(static_cast<int64_t>(2 * size * sizeof(Slot)), std::memory_order_relaxed);
  *old_directory = SlotsOf(old);
  return absl::OkStatus();
}

void KeyIndex::RetirePage(Page* page) {
  if (page == &first_page_) return;
  phases_->Retire([this, page] { pages_.Free(page); });
}

void KeyIndex::RetireDirectory(Slot* directory) {
  if (directory == &first_directory_) return;
  phases_->Retire([directory] { ::operator delete(directory, kDirectoryAlignment); });
}

}  // namespace sluice
