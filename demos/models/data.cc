#include "demos/models/data.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "demos/data/random.h"
#include "fmt/format.h"
#include "graph/status.h"

namespace sluice::demos {
namespace {

constexpr char kText[] = "/usr/share/common-licenses/GPL-2";
constexpr int kClasses = 10;
constexpr int kSize = 28;

Random Generator(int64_t subject, int64_t step) { return Random(1000003 * subject + step); }

absl::StatusOr<std::string> Licence() {
  std::ifstream file(kText);
  if (!file) return absl::NotFoundError(StrCat("the text to learn from: no file ", kText));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double LogisticOf(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

ImageBatch Images(int64_t step, int64_t batch) {
  Random random = Generator(1, step);
  ImageBatch made = {Tensor(DT_FLOAT, {batch, kSize, kSize, 1}), Tensor(DT_INT32, {batch})};
  float* pixel = made.images.data<float>();
  for (int64_t i = 0; i < batch; ++i) {
    const int label = static_cast<int>(random.Below(kClasses));
    made.labels.data<int32_t>()[i] = label;
    const double angle = label * 2 * M_PI / kClasses;
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        const double down = 0.5 + 0.3 * std::sin(angle) - static_cast<double>(y) / kSize;
        const double right = 0.5 + 0.3 * std::cos(angle) - static_cast<double>(x) / kSize;
        const double blob = std::exp(-20 * (down * down + right * right));
        *pixel++ = static_cast<float>(std::min(1.0, blob + 0.3 * random.Uniform()));
      }
    }
  }
  return made;
}

absl::StatusOr<std::vector<int32_t>> LicenceCharacters() {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, Licence());
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c) % kCharacters);
  return ids;
}

Tensor Pieces(const std::vector<int32_t>& text, int64_t step, int64_t batch, int64_t length) {
  Tensor pieces(DT_INT32, {batch, length});
  const int64_t starts = static_cast<int64_t>(text.size()) - length;
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t start = (step * batch + i) * 131 % starts;
    std::copy_n(text.begin() + start, length, pieces.data<int32_t>() + i * length);
  }
  return pieces;
}

Tensor Lengths(int64_t step, int64_t batch, int64_t low, int64_t high) {
  Random random = Generator(2, step);
  Tensor lengths(DT_INT32, {batch});
  for (int32_t& length : lengths.flat<int32_t>()) {
    length = static_cast<int32_t>(low + random.Below(high - low + 1));
  }
  return lengths;
}

absl::StatusOr<std::vector<int32_t>> LicenceWords(int vocabulary) {
  SLUICE_ASSIGN_OR_RETURN(std::string text, Licence());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  std::map<std::string, int> counts;
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    ++counts[word];
    words.push_back(word);
  }
  std::vector<std::pair<int, std::string>> ranked;
  for (const auto& [word, count] : counts) ranked.push_back({-count, word});
  std::sort(ranked.begin(), ranked.end());
  std::map<std::string, int32_t> id_of;
  for (int i = 1; i < vocabulary && i <= static_cast<int>(ranked.size()); ++i) {
    id_of[ranked[i - 1].second] = i;
  }
  std::vector<int32_t> ids;
  for (const std::string& word : words) {
    auto it = id_of.find(word);
    ids.push_back(it == id_of.end() ? 0 : it->second);
  }
  return ids;
}

WordBatch SkipGrams(const std::vector<int32_t>& words, int64_t step, int64_t batch) {
  WordBatch made = {Tensor(DT_INT32, {batch}), Tensor(DT_INT64, {batch, 1})};
  const int64_t centers = static_cast<int64_t>(words.size()) - 2;
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t pair = step * batch + i;
    const int64_t center = 1 + pair * 7 % centers;
    made.words.data<int32_t>()[i] = words[center];
    made.neighbours.data<int64_t>()[i] = words[center + (pair % 2 == 0 ? -1 : 1)];
  }
  return made;
}

RatingBatch Ratings(int64_t step, int64_t batch, int64_t users, int64_t items) {
  constexpr int kTastes = 3;
  Random fixed(7);
  std::vector<double> taste(users * kTastes), kind(items * kTastes);
  for (double& t : taste) t = fixed.Normal();
  for (double& k : kind) k = fixed.Normal();
  Random random = Generator(3, step);
  RatingBatch made = {Tensor(DT_INT32, {batch}), Tensor(DT_INT32, {batch}),
                      Tensor(DT_FLOAT, {batch})};
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t user = random.Below(users), item = random.Below(items);
    double rating = 3 + 0.1 * random.Normal();
    for (int t = 0; t < kTastes; ++t) {
      rating += 0.5 * taste[user * kTastes + t] * kind[item * kTastes + t];
    }
    made.users.data<int32_t>()[i] = static_cast<int32_t>(user);
    made.items.data<int32_t>()[i] = static_cast<int32_t>(item);
    made.ratings.data<float>()[i] = static_cast<float>(rating);
  }
  return made;
}

ClickBatch Clicks(int64_t step, int64_t batch) {
  Random random = Generator(4, step);
  ClickBatch made = {Tensor(DT_FLOAT, {batch, kNumbers}), Tensor(DT_STRING, {batch, kCategories}),
                     Tensor(DT_FLOAT, {batch})};
  for (int64_t i = 0; i < batch; ++i) {
    float* numbers = made.numbers.data<float>() + i * kNumbers;
    for (int n = 0; n < kNumbers; ++n) {
      numbers[n] = static_cast<float>(std::floor(-3 * std::log(1 - random.Uniform())));
    }
    double score = 0.4 * numbers[0] - 0.3 * numbers[1];
    for (int c = 0; c < kCategories; ++c) {
      // Pareto distribution: few categories make up most of the log.
      const double draw = std::pow(1 - random.Uniform(), -1 / 1.2) - 1;
      const uint64_t value = static_cast<uint64_t>(std::min(3 * draw, 999.0));
      made.categories.data<std::string>()[i * kCategories + c] =
          fmt::format("{:08x}", static_cast<uint32_t>(value * 2654435761u + 97 * c));
      if (c < 4) score += static_cast<double>(value % 3) - 1;
    }
    made.clicked.data<float>()[i] = random.Uniform() < LogisticOf(score) ? 1.0f : 0.0f;
  }
  return made;
}

}  // namespace sluice::demos
