#include "executor/passes/image_chains.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "graph/ir/constant.h"

namespace sluice {
namespace {

constexpr double kUnknownBatch = 32;

// Not bytes: the time of a Transpose depends on the elements, and a chain may contain a Cast.
double ElementsOf(Output image) {
  double elements = 1;
  for (int64_t size : image.shape().dims()) {
    elements *= size < 0 ? kUnknownBatch : static_cast<double>(size);
  }
  return elements;
}

// A tensor that an image node reads or computes.
struct Image {
  double elements = 0;  // that a Transpose of it would move
  int maker = -1;       // the image node, by index
  int last_reads = 0;   // number of readers that are channels-last now
  int first_reads = 0;
  int reader = -1;  // a node that is channels-last
};

class Chains {
 public:
  explicit Chains(const std::vector<ImageNode>& nodes)
      : nodes_(nodes), images_of_(nodes.size()), is_last_(nodes.size(), false) {
    for (int n = 0; n < size(); ++n) AddNode(n);
    for (int n = 0; n < size(); ++n) {
      if (nodes_[n].roles.transposes_inside) Flip(n);
    }
  }

  std::vector<ImageNode> Find() {
    // Follow makes a node channels-last even if that saves nothing, so that its readers can follow.
    // Return makes it channels-first again if that costs no more.
    for (int n = 0; n < size(); ++n) Follow(n);
    for (int n = size() - 1; n >= 0; --n) Follow(n);
    for (int n = 0; n < size(); ++n) Return(n);
    for (int n = size() - 1; n >= 0; --n) Return(n);
    return WorthIt();
  }

 private:
  int size() const { return static_cast<int>(nodes_.size()); }

  // The index of the tensor. Readers of a new one are counted as channels-first.
  int IndexOf(Output t) {
    const auto [it, is_new] = index_of_.try_emplace(t, static_cast<int>(images_.size()));
    if (!is_new) return it->second;
    Image image;
    // Simplify removes the user's Transpose together with ours.
    if (!IsTransposeTo(*t.node, kChannelsFirst)) image.elements = ElementsOf(t);
    for (const Use& use : t.node->uses()) {
      if (use.src_output != t.index || ReadsShapeAlone(*use.dst)) continue;
      if (!IsTransposeTo(*use.dst, kChannelsLast)) ++image.first_reads;
    }
    images_.push_back(image);
    return it->second;
  }

  void AddNode(int n) {
    const ImageNode& node = nodes_[n];
    for (int i : node.roles.images) images_of_[n].push_back(IndexOf(node.node->input(i)));
    if (!node.roles.makes_image) return;
    const int made = IndexOf(Output(node.node));
    images_[made].maker = n;
    images_of_[n].push_back(made);
  }

  double CostOf(const Image& image) const {
    const bool is_last = image.maker >= 0 && is_last_[image.maker];
    return (is_last ? image.first_reads : image.last_reads) > 0 ? image.elements : 0;
  }
  double CostAround(int n) const {
    double cost = 0;
    // An image that is read twice is counted twice, before and after a flip.
    for (int i : images_of_[n]) cost += CostOf(images_[i]);
    return cost;
  }
  void Flip(int n) {
    is_last_[n] = !is_last_[n];
    const int change = is_last_[n] ? 1 : -1;
    const size_t inputs = nodes_[n].roles.images.size();
    for (size_t i = 0; i < inputs; ++i) {
      Image& image = images_[images_of_[n][i]];
      image.last_reads += change;
      image.first_reads -= change;
    }
  }

  void Follow(int n) {
    if (is_last_[n]) return;
    const double before = CostAround(n);
    Flip(n);
    if (CostAround(n) > before) Flip(n);
  }
  void Return(int n) {
    if (!is_last_[n] || nodes_[n].roles.transposes_inside) return;
    const double before = CostAround(n);
    Flip(n);
    if (CostAround(n) > before) Flip(n);
  }

  int RootOf(int n) {
    while (chain_[n] != n) n = chain_[n] = chain_[chain_[n]];
    return n;
  }
  void Join(int a, int b) { chain_[RootOf(a)] = RootOf(b); }

  // Two nodes are in one chain if one reads the result of the other, or if both read a tensor that
  // is transposed for them.
  void JoinChains() {
    chain_.resize(nodes_.size());
    std::iota(chain_.begin(), chain_.end(), 0);
    for (int n = 0; n < size(); ++n) {
      if (!is_last_[n]) continue;
      for (int i : images_of_[n]) {
        Image& image = images_[i];
        if (image.maker >= 0 && is_last_[image.maker]) Join(n, image.maker);
        if (image.reader >= 0) Join(n, image.reader);
        if (image.maker != n) image.reader = n;
      }
    }
  }

  // Adds the elements that a node with channels last need not transpose inside.
  static void AddSaved(const ImageNode& node, double* saved) {
    if (!node.roles.transposes_inside) return;
    for (int i : node.roles.images) *saved += ElementsOf(node.node->input(i));
    if (node.roles.makes_image) *saved += ElementsOf(Output(node.node));
  }

  void SubtractCosts(std::vector<double>& saved) {
    for (const Image& image : images_) {
      const bool is_last = image.maker >= 0 && is_last_[image.maker];
      const int n = is_last ? image.maker : image.reader;
      if (n >= 0) saved[RootOf(n)] -= CostOf(image);
    }
  }

  std::vector<ImageNode> WorthIt() {
    JoinChains();
    std::vector<double> saved(nodes_.size(), 0);
    std::vector<bool> has_convolution(nodes_.size(), false);
    for (int n = 0; n < size(); ++n) {
      if (!is_last_[n]) continue;
      if (nodes_[n].roles.is_convolution) has_convolution[RootOf(n)] = true;
      AddSaved(nodes_[n], &saved[RootOf(n)]);
    }
    SubtractCosts(saved);
    std::vector<ImageNode> worth;
    for (int n = 0; n < size(); ++n) {
      if (is_last_[n] && has_convolution[RootOf(n)] && saved[RootOf(n)] > 0) {
        worth.push_back(nodes_[n]);
      }
    }
    return worth;
  }

  const std::vector<ImageNode>& nodes_;
  std::vector<Image> images_;
  absl::flat_hash_map<Output, int, std::hash<Output>> index_of_;
  // By node: the inputs that are images, in their order, then the output.
  std::vector<absl::InlinedVector<int, 4>> images_of_;
  std::vector<bool> is_last_;
  std::vector<int> chain_;  // towards the root of a tree
};

}  // namespace

bool ReadsShapeAlone(const Node& reader) {
  return reader.traits().shape_query != ShapeQuery::kNone;
}

bool IsTransposeTo(const Node& node, const ImageOrder& order) {
  if (node.op() != "Transpose" || !node.control_inputs().empty()) return false;
  const std::optional<std::vector<int64_t>> own =
      ConstantPermutation(node.input(1), node.input(0).shape().rank());
  return own && std::equal(own->begin(), own->end(), order.begin(), order.end());
}

std::vector<ImageNode> ChainsOf(const std::vector<ImageNode>& nodes) {
  return Chains(nodes).Find();
}

}  // namespace sluice
