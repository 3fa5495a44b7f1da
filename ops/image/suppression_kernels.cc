// Kernels that select the best boxes among those that overlap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {
namespace {

// A box whose corners are in ascending order.
struct Box {
  float top, left, bottom, right;

  template <typename T>
  static Box At(const T* corners) {
    const float y1 = corners[0], x1 = corners[1], y2 = corners[2], x2 = corners[3];
    return {std::min(y1, y2), std::min(x1, x2), std::max(y1, y2), std::max(x1, x2)};
  }
  float Area() const { return (bottom - top) * (right - left); }
};

// Returns the area of the intersection of two boxes, divided by the area of their union.
float Overlap(const Box& a, const Box& b) {
  const float area_a = a.Area(), area_b = b.Area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  const float common = height * width;
  return common / (area_a + area_b - common);
}

struct Limits {
  int64_t outputs;
  float overlap;       // boxes that overlap more are dropped
  float score;         // boxes whose score is not greater are ignored
  float softness = 0;  // if > 0, overlap reduces the score of a box instead of dropping it
};

struct Selection {
  std::vector<int32_t> boxes;
  std::vector<float> scores;
};

// Repeatedly selects the best box that overlaps no selected box. Compares each box with each
// selected one only once. Rounds the result of every operation to T. Source of the soft form:
// Bodla, Singh, Chellappa and Davis, "Soft-NMS" (2017).
template <typename T, typename F>
Selection Select(const T* scores, int64_t n, const Limits& limits, const F& overlap) {
  struct Candidate {
    int32_t box;
    float score;
    size_t compared;
    bool operator<(const Candidate& o) const {
      return score < o.score || (score == o.score && box > o.box);
    }
  };
  std::priority_queue<Candidate> queue;
  for (int64_t i = 0; i < n; ++i) {
    if (scores[i] > limits.score) queue.push({static_cast<int32_t>(i), scores[i], 0});
  }
  const bool is_soft = limits.softness > 0;
  const float scale = is_soft ? static_cast<float>(T(-0.5f / limits.softness)) : 0.0f;
  Selection chosen;
  while (static_cast<int64_t>(chosen.boxes.size()) < limits.outputs && !queue.empty()) {
    Candidate c = queue.top();
    queue.pop();
    const float before = c.score;
    bool is_dropped = false;
    for (size_t j = chosen.boxes.size(); j-- > c.compared;) {
      const auto common = static_cast<float>(T(overlap(c.box, chosen.boxes[j])));
      if (is_soft) {
        const T squared = T(static_cast<float>(T(scale * common)) * common);
        c.score = static_cast<float>(
            T(c.score * static_cast<float>(T(std::exp(static_cast<float>(squared))))));
      } else if (common > limits.overlap) {
        is_dropped = true;
        break;
      }
      if (c.score <= limits.score) break;
    }
    c.compared = chosen.boxes.size();
    if (is_dropped) continue;
    if (c.score == before) {
      chosen.boxes.push_back(c.box);
      chosen.scores.push_back(c.score);
    } else if (c.score > limits.score) {
      queue.push(c);
    }
  }
  return chosen;
}

absl::Status CheckScalar(const Tensor& t, const char* name) {
  if (t.rank() == 0) return absl::OkStatus();
  return InvalidArgument(name, " must be 0-D, got shape ", t.shape().ToString());
}

absl::Status CheckOverlap(float v) {
  if (v >= 0 && v <= 1) return absl::OkStatus();
  return InvalidArgument("iou_threshold must be in [0, 1], got ", v);
}

absl::Status CheckScores(const Tensor& scores, int64_t boxes) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(scores, 1, "scores must be 1-D, got shape "));
  if (scores.dim(0) == boxes) return absl::OkStatus();
  return InvalidArgument("scores has incompatible shape (Dimensions must be equal, but are ", boxes,
                         " and ", scores.dim(0), ")");
}

float NumberOf(const Tensor& t) {
  return t.dtype() == DT_HALF ? static_cast<float>(*t.data<half>()) : *t.data<float>();
}

// The kernel of NonMaxSuppression to NonMaxSuppressionV5. Each version adds inputs or outputs.
template <typename T>
class SuppressionKernel : public Kernel {
 public:
  explicit SuppressionKernel(KernelInit& init)
      : overlap_(init.AttrOr<float>("iou_threshold", 0)),
        is_padded_(init.AttrOr<bool>("pad_to_max_output_size", false)),
        has_scores_(init.node().op() == "NonMaxSuppressionV5") {}

  absl::Status Compute(KernelContext& c) override {
    static const char* const kNames[] = {"boxes",         "scores",          "max_output_size",
                                         "iou_threshold", "score_threshold", "soft_nms_sigma"};
    for (int i = 2; i < c.num_inputs(); ++i) {
      SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(i), kNames[i]));
    }
    // If there is no threshold, all scores count except the lowest number.
    const float lowest = sizeof(T) == 2 ? -65504.0f : std::numeric_limits<float>::lowest();
    Limits limits{*c.input(2).data<int32_t>(), overlap_, lowest};
    if (c.num_inputs() > 3) limits.overlap = static_cast<float>(T(NumberOf(c.input(3))));
    if (c.num_inputs() > 4) limits.score = static_cast<float>(T(NumberOf(c.input(4))));
    if (c.num_inputs() > 5) limits.softness = NumberOf(c.input(5));
    SLUICE_RETURN_IF_ERROR(CheckOverlap(limits.overlap));
    SLUICE_INVALID_IF(!(limits.softness >= 0), "soft_nms_sigma must be >= 0");
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    SLUICE_INVALID_IF(boxes.rank() != 2, "boxes must be 2-D (Shape must be rank 2 but is rank ",
                      boxes.rank(), "), got shape ", boxes.shape().ToString());
    SLUICE_INVALID_IF(boxes.dim(1) != 4, "boxes must have 4 columns (Dimension must be 4 but is ",
                      boxes.dim(1), ")");
    SLUICE_RETURN_IF_ERROR(CheckScores(scores, boxes.dim(0)));
    SLUICE_INVALID_IF(limits.outputs < 0, "output size must be non-negative");
    const T* corners = boxes.data<T>();
    return SetSelection(
        c, limits, Select<T>(scores.data<T>(), boxes.dim(0), limits, [&](int32_t i, int32_t j) {
          return Overlap(Box::At(corners + 4 * i), Box::At(corners + 4 * j));
        }));
  }

 private:
  absl::Status SetSelection(KernelContext& c, const Limits& limits, const Selection& chosen) const {
    const auto valid = static_cast<int64_t>(chosen.boxes.size());
    const int64_t n = is_padded_ ? limits.outputs : valid;
    SLUICE_ASSIGN_OR_RETURN(Tensor * boxes, c.AllocateOutput(0, TensorShape({n})));
    std::fill_n(std::copy(chosen.boxes.begin(), chosen.boxes.end(), boxes->data<int32_t>()),
                n - valid, 0);
    if (has_scores_) {
      SLUICE_ASSIGN_OR_RETURN(Tensor * scores, c.AllocateOutput(1, TensorShape({n})));
      for (int64_t i = 0; i < n; ++i) scores->data<T>()[i] = T(i < valid ? chosen.scores[i] : 0.0f);
    }
    if (c.num_outputs() > 1) {
      c.set_output(c.num_outputs() - 1, Tensor::Scalar(static_cast<int32_t>(valid)));
    }
    return absl::OkStatus();
  }

  const float overlap_;
  const bool is_padded_, has_scores_;
};
KERNEL(NonMaxSuppression, SuppressionKernel<float>);
using HalfAndFloat = TypeList<half, float>;
KERNELS(NonMaxSuppressionV2, "T", SuppressionKernel, HalfAndFloat);
KERNELS(NonMaxSuppressionV3, "T", SuppressionKernel, HalfAndFloat);
KERNELS(NonMaxSuppressionV4, "T", SuppressionKernel, HalfAndFloat);
KERNELS(NonMaxSuppressionV5, "T", SuppressionKernel, HalfAndFloat);

absl::Status SuppressByOverlaps(KernelContext& c) {
  const Tensor &overlaps = c.input(0), &scores = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(2), "max_output_size"));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(3), "overlap_threshold"));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(4), "score_threshold"));
  SLUICE_INVALID_IF(overlaps.rank() != 2 || overlaps.dim(0) != overlaps.dim(1),
                    "overlaps must be square, got shape ", overlaps.shape().ToString());
  const int64_t n = overlaps.dim(0);
  SLUICE_RETURN_IF_ERROR(CheckScores(scores, n));
  const Limits limits{*c.input(2).data<int32_t>(), *c.input(3).data<float>(),
                      *c.input(4).data<float>()};
  SLUICE_INVALID_IF(limits.outputs < 0, "output size must be non-negative");
  const float* parts = overlaps.data<float>();
  const Selection chosen = Select<float>(scores.data<float>(), n, limits,
                                         [&](int32_t i, int32_t j) { return parts[i * n + j]; });
  c.set_output(0, Tensor::Vector<int32_t>(chosen.boxes));
  return absl::OkStatus();
}
using OverlapsKernel = FunctionKernel<SuppressByOverlaps>;
KERNEL(NonMaxSuppressionWithOverlaps, OverlapsKernel);

// Selects boxes of each class from [batch, boxes, 1 or classes, 4], and then the best boxes of all
// classes together.
class CombinedSuppressionKernel : public Kernel {
 public:
  explicit CombinedSuppressionKernel(KernelInit& init)
      : is_padded_by_class_(init.attr<bool>("pad_per_class")),
        clips_(init.attr<bool>("clip_boxes")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(Check(c));
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    const int64_t by_class = *c.input(2).data<int32_t>(), total = *c.input(3).data<int32_t>();
    const int64_t all = SaturatedProduct(by_class, scores.dim(2));
    const int64_t rows = is_padded_by_class_ ? std::min(total, all) : total;
    const Limits limits{std::min(by_class, boxes.dim(1)), *c.input(4).data<float>(),
                        *c.input(5).data<float>()};
    const int64_t batch = boxes.dim(0);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({batch, rows, 4}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_boxes, c.AllocateOutput(0, shape));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_scores, c.AllocateOutput(1, TensorShape({batch, rows})));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out_classes, c.AllocateOutput(2, TensorShape({batch, rows})));
    SLUICE_ASSIGN_OR_RETURN(Tensor * valid, c.AllocateOutput(3, TensorShape({batch})));
    std::fill_n(out_boxes->data<float>(), out_boxes->num_elements(), 0.0f);
    std::fill_n(out_scores->data<float>(), out_scores->num_elements(), 0.0f);
    std::fill_n(out_classes->data<float>(), out_classes->num_elements(), 0.0f);
    if (scores.num_elements() == 0) {  // the other sizes have no bound
      std::fill_n(valid->data<int32_t>(), batch, 0);
      return absl::OkStatus();
    }
    c.ParallelFor(batch, 50.0 * static_cast<double>(scores.dim(1) * scores.dim(2)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t b = begin; b < end; ++b) {
                      std::vector<Detection> found = Detect(boxes, scores, b, limits);
                      const auto n = std::min(static_cast<int64_t>(found.size()), rows);
                      valid->data<int32_t>()[b] = static_cast<int32_t>(n);
                      for (int64_t i = 0; i < n; ++i) {
                        Write(found[i], out_boxes->data<float>() + (b * rows + i) * 4);
                        out_scores->data<float>()[b * rows + i] = found[i].score;
                        out_classes->data<float>()[b * rows + i] =
                            static_cast<float>(found[i].of_class);
                      }
                    }
                  });
    return absl::OkStatus();
  }

 private:
  struct Detection {
    const float* corners;
    float score;
    int64_t of_class;
  };

  static absl::Status Check(KernelContext& c) {
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    SLUICE_INVALID_IF(boxes.rank() != 4 || boxes.dim(3) != 4,
                      "boxes must be [batch, boxes, classes, 4], got shape ",
                      boxes.shape().ToString());
    SLUICE_RETURN_IF_ERROR(
        ExpectRank(scores, 3, "scores must be [batch, boxes, classes], got shape "));
    SLUICE_INVALID_IF(boxes.dim(2) != 1 && boxes.dim(2) != scores.dim(2),
                      "third dimension of boxes must be either 1 or num classes, got ",
                      boxes.dim(2), " for ", scores.dim(2), " classes");
    SLUICE_INVALID_IF(scores.dim(1) != boxes.dim(1) || scores.dim(0) != boxes.dim(0),
                      "boxes and scores must have the same batch and boxes, got shapes ",
                      boxes.shape().ToString(), " and ", scores.shape().ToString());
    static const char* const kNames[] = {"max_size_per_class", "max_total_size", "iou_threshold",
                                         "score_threshold"};
    for (int i = 0; i < 4; ++i) SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(2 + i), kNames[i]));
    for (int i = 0; i < 2; ++i) {
      SLUICE_INVALID_IF(*c.input(2 + i).data<int32_t>() <= 0, kNames[i], " must be positive, got ",
                        *c.input(2 + i).data<int32_t>());
    }
    return CheckOverlap(*c.input(4).data<float>());
  }

  static std::vector<Detection> Detect(const Tensor& boxes, const Tensor& scores, int64_t b,
                                       const Limits& limits) {
    const int64_t n = boxes.dim(1), own = boxes.dim(2), classes = scores.dim(2);
    std::vector<Detection> found;
    std::vector<float> of_class(static_cast<size_t>(n));
    for (int64_t k = 0; k < classes; ++k) {
      const float* corners = boxes.data<float>() + 4 * (b * n * own + (own > 1 ? k : 0));
      for (int64_t i = 0; i < n; ++i) {
        of_class[i] = scores.data<float>()[(b * n + i) * classes + k];
      }
      const auto at = [&](int32_t i) { return corners + 4 * own * i; };
      const Selection chosen = Select<float>(of_class.data(), n, limits, [&](int32_t i, int32_t j) {
        return Overlap(Box::At(at(i)), Box::At(at(j)));
      });
      for (size_t i = 0; i < chosen.boxes.size(); ++i) {
        found.push_back({at(chosen.boxes[i]), chosen.scores[i], k});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Detection& x, const Detection& y) { return x.score > y.score; });
    return found;
  }

  void Write(const Detection& d, float* to) const {
    for (int i = 0; i < 4; ++i) {
      to[i] = clips_ ? std::max(std::min(d.corners[i], 1.0f), 0.0f) : d.corners[i];
    }
  }

  const bool is_padded_by_class_, clips_;
};
KERNEL(CombinedNonMaxSuppression, CombinedSuppressionKernel);

}  // namespace
}  // namespace sluice
