// The rules by which an embedding table makes records for keys, and removes them. A record stores
// the trained row of its key (records.h).
//
// Admission: a key gets a record when it is admitted. Updates of a key that is not admitted are
// dropped, and lookups return its initial row. The update that admits a key is applied. A key whose
// record was removed must be admitted again. A Bloom filter (AdmissionRule::filter_counters) keeps
// the counts of admitted keys, so with a filter the next update admits such a key.
// Eviction: see docs/embedding_tables.md, "When rows are removed".
#ifndef SLUICE_OPS_EMBEDDING_TABLE_RULES_H_
#define SLUICE_OPS_EMBEDDING_TABLE_RULES_H_

#include <cstdint>

namespace sluice {

struct AdmissionRule {
  // A key is admitted with its update of this number, counted from 1. 0 or 1: with the first
  // update. At most 255 with a filter.
  int64_t after_updates = 0;
  // 0: counts the updates of each key exactly, in about 40 bytes per key that waits. Otherwise
  // counts in a Bloom filter of the whole table with this many counters of 1 byte, which never
  // counts too few. With n keys and m counters it counts too many with a probability of
  // (1 - exp(-4 n / m))^4 per key.
  int64_t filter_counters = 0;
  // The fraction of the keys that can be admitted. A hash of the table's seed and the key decides
  // which.
  float probability = 1;

  bool operator==(const AdmissionRule&) const = default;
};

struct EvictionRule {
  // Evicts keys that had no update in this many last steps. 0: never.
  int64_t idle_steps = 0;
  // Evicts keys that had no update for this time, or up to 1/64 longer. 0: never. Time counts only
  // while a process holds the table.
  float idle_seconds = 0;
  // Evicts keys whose row has a smaller L2 norm, if they had no update in the last
  // `min_norm_steps` steps. 0: never.
  float min_norm = 0;
  int64_t min_norm_steps = 1000;
  // Evicts keys while the table has more records than this, but no key that the latest step
  // updated. 0: no limit.
  int64_t capacity = 0;
  // To keep to `capacity`, the table compares 16 records and evicts one of them: the one with the
  // fewest updates if `least_updated`, otherwise the one whose last update is the oldest.
  bool least_updated = false;

  bool operator==(const EvictionRule&) const = default;
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_TABLE_RULES_H_
