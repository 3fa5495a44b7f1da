#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/random/class_sampler.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

absl::Status CheckScalar(const char* name, const Tensor& t) {
  if (t.rank() == 0) return absl::OkStatus();
  return InvalidArgument("Input ", name, " should be a scalar.");
}
absl::Status CheckMatrix(const char* name, const Tensor& t) {
  if (t.rank() == 2) return absl::OkStatus();
  return InvalidArgument("Input ", name, " should be a matrix.");
}

float Product(const float* x, const float* y, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

std::vector<float> HalfSquares(const Tensor& points) {
  std::vector<float> halves;
  const int64_t n = points.dim(1);
  for (int64_t i = 0; i < points.dim(0); ++i) {
    const float* row = points.data<float>() + i * n;
    halves.push_back(0.5f * Product(row, row, n));
  }
  return halves;
}

// More retries would take very long and hardly find better points.
constexpr int64_t kRetriesMax = 1 << 16;

// Draws points with probabilities that are proportional to their distance from those drawn before.
class PointSampler {
 public:
  PointSampler(const Tensor& points, uint64_t seed)
      : points_(points),
        halves_(HalfSquares(points)),
        philox_(seed, 0),
        distances_(halves_.size(), std::numeric_limits<float>::infinity()),
        is_taken_(halves_.size(), false) {}

  // Checks for cancellation, because there may be many retries and many points.
  absl::StatusOr<int64_t> Next(int64_t retries, const Caller& caller) {
    SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
    if (has_any_) {
      float sum = 0;
      sums_.clear();
      for (float d : distances_) sums_.push_back(sum += d);
    }
    int64_t best = 0;
    if (retries == 0) {
      best = Draw();
      distances_ = With(best);
    } else {
      float least = std::numeric_limits<float>::infinity();
      std::vector<float> nearest = distances_;
      for (int64_t i = 0; i <= retries; ++i) {
        if (i % 64 == 63) SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
        const int64_t drawn = Draw();
        std::vector<float> found = With(drawn);
        float total = 0;
        for (float d : found) total += d;
        if (!(total < least)) continue;
        least = total;
        best = drawn;
        nearest.swap(found);
      }
      distances_.swap(nearest);
    }
    is_taken_[static_cast<size_t>(best)] = has_any_ = true;
    return best;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(halves_.size()); }
  int64_t Uniform() { return static_cast<int64_t>(Below64(static_cast<uint64_t>(size()), bits_)); }

  int64_t Draw() {
    if (!has_any_) return Uniform();
    // Limits the number of draws: if the sum is infinite, or if small distances are lost to
    // rounding, every draw may hit a point that was already taken.
    constexpr int kDrawsMax = 1 << 20;
    int64_t i;
    int draws = 0;
    do {
      if (++draws > kDrawsMax) {
        return std::find(is_taken_.begin(), is_taken_.end(), false) - is_taken_.begin();
      }
      if (sums_.back() > 0) {
        const float at = random::ToFloat(bits_()) * sums_.back();
        i = std::min<int64_t>(std::upper_bound(sums_.begin(), sums_.end(), at) - sums_.begin(),
                              size() - 1);
      } else {
        i = Uniform();
      }
    } while (is_taken_[static_cast<size_t>(i)]);
    return i;
  }

  // Returns half of the squared distances of all points to the nearest drawn one, if point i is
  // drawn next.
  std::vector<float> With(int64_t i) const {
    const int64_t n = points_.dim(1);
    const float* chosen = points_.data<float>() + i * n;
    std::vector<float> nearest = distances_;
    for (int64_t k = 0; k < size(); ++k) {
      const float product = Product(points_.data<float>() + k * n, chosen, n);
      const float distance = (halves_[k] - product) + halves_[i];
      nearest[k] = std::min(nearest[k], distance);
    }
    return nearest;
  }

  const Tensor& points_;
  const std::vector<float> halves_;
  Philox philox_;
  SingleNumbers bits_{&philox_};
  std::vector<float> distances_;  // to the nearest point that was drawn
  std::vector<float> sums_;       // running sums of the distances
  std::vector<bool> is_taken_;
  bool has_any_ = false;
};

absl::Status KmeansPlusPlusInitialization(KernelContext& c) {
  const Tensor& points = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckMatrix("points", points));
  SLUICE_RETURN_IF_ERROR(CheckScalar("num_to_sample", c.input(1)));
  SLUICE_RETURN_IF_ERROR(CheckScalar("seed", c.input(2)));
  SLUICE_RETURN_IF_ERROR(CheckScalar("num_retries_per_sample", c.input(3)));
  const int64_t count = c.input(1).scalar<int64_t>();
  int64_t retries = c.input(3).scalar<int64_t>();
  SLUICE_INVALID_IF(points.dim(0) == 0, "Expected points.rows() > 0.");
  SLUICE_INVALID_IF(count <= 0, "Expected num_to_sample > 0.");
  SLUICE_INVALID_IF(count > points.dim(0), "Expected num_to_sample <= points.rows(). ", count,
                    " vs ", points.dim(0), ".");
  retries = std::min(retries, kRetriesMax);
  if (retries < 0) retries = 2 + static_cast<int64_t>(std::log(static_cast<double>(count)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {count, points.dim(1)}));
  SLUICE_RETURN_IF_ERROR(CheckRoom(points.dim(0), 4 * sizeof(float), "points"));
  PointSampler sampler(points, static_cast<uint64_t>(c.input(2).scalar<int64_t>()));
  const Caller caller = CallerOf(c);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = points.dim(1);
    SLUICE_ASSIGN_OR_RETURN(const int64_t next, sampler.Next(retries, caller));
    std::copy_n(points.data<float>() + next * n, n, out->data<float>() + i * n);
  }
  return absl::OkStatus();
}
using KmeansKernel = FunctionKernel<KmeansPlusPlusInitialization>;
KERNEL(KmeansPlusPlusInitialization, KmeansKernel);

absl::Status KMC2ChainInitialization(KernelContext& c) {
  const Tensor& distances = c.input(0);
  SLUICE_INVALID_IF(distances.rank() != 1, "Input distances should be a vector.");
  SLUICE_RETURN_IF_ERROR(CheckScalar("seed", c.input(1)));
  SLUICE_INVALID_IF(distances.num_elements() == 0, "Expected distances_tensor.size() > 0.");
  Philox philox(static_cast<uint64_t>(c.input(1).scalar<int64_t>()), 0);
  SingleNumbers bits(&philox);
  int64_t place = 0;
  const float* distance = distances.data<float>();
  for (int64_t i = 1; i < distances.num_elements(); ++i) {
    if (distance[i] > random::ToFloat(bits()) * distance[place]) place = i;
  }
  c.set_output(0, Tensor::Scalar<int64_t>(place));
  return absl::OkStatus();
}
using ChainKernel = FunctionKernel<KMC2ChainInitialization>;
KERNEL(KMC2ChainInitialization, ChainKernel);

absl::Status NearestNeighbors(KernelContext& c) {
  const Tensor &points = c.input(0), &centers = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckMatrix("points", points));
  SLUICE_RETURN_IF_ERROR(CheckMatrix("centers", centers));
  SLUICE_RETURN_IF_ERROR(CheckScalar("k", c.input(2)));
  SLUICE_INVALID_IF(points.dim(0) == 0, "Expected points.rows() > 0.");
  SLUICE_INVALID_IF(points.dim(1) != centers.dim(1),
                    "Expected point_dimensions == center_dimensions: ", points.dim(1), " vs ",
                    centers.dim(1), ".");
  SLUICE_INVALID_IF(c.input(2).scalar<int64_t>() < 0, "Expected k >= 0.");
  const int64_t n = points.dim(1), k = std::min(centers.dim(0), c.input(2).scalar<int64_t>());
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {points.dim(0), k}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * distances, c.AllocateOutput(1, {points.dim(0), k}));
  if (k == 0) return absl::OkStatus();
  // Checks the memory for the data per center: points without dimensions take none, so they may be
  // many.
  SLUICE_RETURN_IF_ERROR(
      CheckRoom(centers.dim(0), sizeof(float) + sizeof(std::pair<float, int64_t>), "centers"));
  const std::vector<float> halves = HalfSquares(centers);
  const double cost = static_cast<double>(centers.dim(0)) * (static_cast<double>(n) + 4);
  c.ParallelFor(points.dim(0), cost, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<float, int64_t>> found(halves.size());
    for (int64_t i = begin; i < end; ++i) {
      const float* point = points.data<float>() + i * n;
      for (size_t j = 0; j < found.size(); ++j) {
        const auto center = static_cast<int64_t>(j);
        found[j] = {halves[j] - Product(point, centers.data<float>() + center * n, n), center};
      }
      std::partial_sort(found.begin(), found.begin() + k, found.end());
      const float half = 0.5f * Product(point, point, n);
      for (int64_t j = 0; j < k; ++j) {
        indices->data<int64_t>()[i * k + j] = found[j].second;
        distances->data<float>()[i * k + j] = 2.0f * (half + found[j].first);
      }
    }
  });
  return absl::OkStatus();
}
using NearestKernel = FunctionKernel<NearestNeighbors>;
KERNEL(NearestNeighbors, NearestKernel);

}  // namespace
}  // namespace sluice
