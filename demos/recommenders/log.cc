#include "demos/recommenders/log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "demos/data/random.h"
#include "fmt/format.h"

namespace sluice::recommenders {
namespace {

using demos::Random;

// The purposes of random numbers: rows, and the weights of keys. Values below 100 are the numbers
// of fields.
enum Purpose : uint64_t { kRow = 100, kWord, kPair, kInterest, kQuality, kBudget, kPrice };

Random RandomOf(int64_t seed, uint64_t purpose, int64_t key) {
  const uint64_t subject = Random(static_cast<uint64_t>(seed) * 1009 + purpose).Bits();
  return Random(Random(subject ^ static_cast<uint64_t>(key)).Bits());
}
double WeightOf(int64_t seed, uint64_t purpose, int64_t key) {
  return RandomOf(seed, purpose, key).Normal();
}

// Draws a number k from 0 to n - 1 with a probability near 1 / (k + 1): few keys make up most of a
// log.
int64_t Popular(Random& random, int64_t n) {
  const double draw = std::exp(random.Uniform() * std::log(static_cast<double>(n) + 1));
  return std::min(n - 1, static_cast<int64_t>(draw) - 1);
}

float Probability(double logit) { return static_cast<float>(1 / (1 + std::exp(-logit))); }

Impressions Empty(const std::vector<Column>& columns, int64_t count) {
  Impressions made;
  for (const Column& c : columns) made.columns.emplace_back(c.dtype, TensorShape({count, c.width}));
  made.probabilities = Tensor(DT_FLOAT, {count, columns[0].width});
  return made;
}

template <typename T>
T* Row(Tensor& column, int64_t row) {
  return column.data<T>() + row * column.dim(1);
}

}  // namespace

const std::array<int64_t, kFields> kFieldKeys = {
    1460, 583,   10131227, 2202608, 305,  24,   12517, 633,     3,  93145, 5683,   8351593, 3194,
    27,   14992, 5461306,  10,      5652, 2173, 4,     7046547, 18, 15,    286181, 105,     142572};

Log ClickLog(const LogOptions& options) {
  Log log;
  log.columns = {
      {"labels", DT_FLOAT, 1}, {"numbers", DT_FLOAT, kNumbers}, {"words", DT_STRING, kFields}};
  log.rows = [options, columns = log.columns](int64_t first, int64_t count) {
    Impressions made = Empty(columns, count);
    for (int64_t i = 0; i < count; ++i) {
      Random random = RandomOf(options.seed, kRow, first + i);
      double logit = -0.5;
      float* numbers = Row<float>(made.columns[1], i);
      for (int n = 0; n < kNumbers; ++n) {
        numbers[n] = static_cast<float>(std::floor(-(3.0 + n) * std::log(1 - random.Uniform())));
        if (n < 4) logit += (n % 2 == 0 ? 0.4 : -0.4) * std::log1p(numbers[n]);
      }
      std::array<int64_t, kFields> keys;
      for (int f = 0; f < kFields; ++f) {
        keys[f] = Popular(random, std::min(kFieldKeys[f], options.keys_max));
        const uint64_t word = RandomOf(0, kWord + 100 * f, keys[f]).Bits();
        Row<std::string>(made.columns[2], i)[f] = fmt::format("{:08x}", word >> 32);
        logit += 0.25 * WeightOf(options.seed, f, keys[f]);
      }
      for (int f = 0; f < 6; f += 2) {
        logit += 0.5 * WeightOf(options.seed, kPair + 100 * f, keys[f]) *
                 WeightOf(options.seed, kPair + 100 * f + 100, keys[f + 1]);
      }
      const float probability = Probability(logit);
      *Row<float>(made.probabilities, i) = probability;
      *Row<float>(made.columns[0], i) = random.Uniform() < probability ? 1.0f : 0.0f;
    }
    return made;
  };
  return log;
}

namespace {

constexpr int64_t kTopics = 8;

int64_t TopicOf(int64_t item) { return item % kTopics; }

// A popular item of the topic.
int64_t ItemOf(Random& random, int64_t topic, int64_t items) {
  return Popular(random, std::max<int64_t>(items / kTopics, 1)) * kTopics + topic;
}

int64_t CategoryOf(int64_t item, int64_t categories) {
  const int64_t of_topic = std::max<int64_t>(categories / kTopics, 1);
  return RandomOf(0, kRow, item).Below(of_topic) * kTopics + TopicOf(item);
}

struct History {
  std::vector<int64_t> items;  // oldest first

  // The share of the last `count` items that have the topic.
  double Share(int64_t topic, size_t count) const {
    count = std::min(count, items.size());
    const auto of_topic = std::count_if(items.end() - static_cast<int64_t>(count), items.end(),
                                        [&](int64_t item) { return TopicOf(item) == topic; });
    return static_cast<double>(of_topic) / static_cast<double>(count);
  }
};

// A user has an old and a present interest, and looks at other things now and then.
History Browse(Random& random, int64_t old_topic, int64_t topic, int64_t items) {
  History history;
  const int64_t length = 3 + random.Below(kHistory - 2);
  for (int64_t k = 0; k < length; ++k) {
    const int64_t interest = k < length / 2 ? old_topic : topic;
    const int64_t chosen = random.Uniform() < 0.75 ? interest : random.Below(kTopics);
    history.items.push_back(ItemOf(random, chosen, items));
  }
  return history;
}

}  // namespace

Log PurchaseLog(const LogOptions& options) {
  Log log;
  log.columns = {{"labels", DT_FLOAT, 3},
                 {"user", DT_INT64, 1},
                 {"item", DT_INT64, 1},
                 {"category", DT_INT64, 1},
                 {"past_items", DT_INT64, kHistory},
                 {"past_categories", DT_INT64, kHistory}};
  log.rows = [o = options, columns = log.columns](int64_t first, int64_t count) {
    const int64_t items = std::min(kItems, std::max(o.keys_max, kTopics));
    const int64_t categories = std::min(kItemCategories, std::max(o.keys_max, kTopics));
    Impressions made = Empty(columns, count);
    for (int64_t i = 0; i < count; ++i) {
      Random random = RandomOf(o.seed, kRow, first + i);
      const int64_t user = Popular(random, std::min(kUsers, o.keys_max));
      const int64_t old_topic = random.Below(kTopics);
      const int64_t interest = RandomOf(o.seed, kInterest, user).Below(kTopics);
      const History history = Browse(random, old_topic, interest, items);
      const double draw = random.Uniform();
      const int64_t topic = draw < 0.3 ? interest : draw < 0.5 ? old_topic : random.Below(kTopics);
      const int64_t item = ItemOf(random, topic, items);
      *Row<int64_t>(made.columns[1], i) = user;
      *Row<int64_t>(made.columns[2], i) = item;
      *Row<int64_t>(made.columns[3], i) = CategoryOf(item, categories);
      for (size_t k = 0; k < kHistory; ++k) {
        const bool is_there = k < history.items.size();
        Row<int64_t>(made.columns[4], i)[k] = is_there ? history.items[k] : -1;
        Row<int64_t>(made.columns[5], i)[k] =
            is_there ? CategoryOf(history.items[k], categories) : -1;
      }
      const double match = 3 * history.Share(topic, 5) + history.Share(topic, kHistory);
      const double logits[] = {match - 2 + 0.5 * WeightOf(o.seed, kQuality, item),
                               match - 3 + WeightOf(o.seed, kPrice, item),
                               0.7 * match - 3 + WeightOf(o.seed, kBudget, user)};
      for (int label = 0; label < 3; ++label) {
        const float probability = Probability(logits[label]);
        Row<float>(made.probabilities, i)[label] = probability;
        Row<float>(made.columns[0], i)[label] = random.Uniform() < probability ? 1.0f : 0.0f;
      }
    }
    return made;
  };
  return log;
}

double AreaUnderCurve(const Tensor& labels, const Tensor& scores, int64_t task) {
  const int64_t rows = labels.dim(0), tasks = scores.dim(1);
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t row) { return scores.data<float>()[row * tasks + task]; };
  // A NaN has no place in the order.
  if (std::any_of(order.begin(), order.end(), [&](int64_t i) { return std::isnan(score(i)); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score(a) < score(b); });
  double positives = 0, pairs = 0, negatives_below = 0;
  for (int64_t i = 0; i < rows;) {
    // Equal scores count half.
    double equal_positives = 0, equal_negatives = 0;
    const float value = score(order[i]);
    for (; i < rows && score(order[i]) == value; ++i) {
      (labels.data<float>()[order[i] * labels.dim(1) + task] > 0.5f ? equal_positives
                                                                    : equal_negatives) += 1;
    }
    pairs += equal_positives * (negatives_below + equal_negatives / 2);
    positives += equal_positives;
    negatives_below += equal_negatives;
  }
  return positives == 0 || negatives_below == 0 ? 0.5 : pairs / (positives * negatives_below);
}

}  // namespace sluice::recommenders
