// The input, the network and the loss of the tutorial (docs/tutorial.md).
#ifndef SLUICE_DOCS_SAMPLES_TUTORIAL_MODEL_H_
#define SLUICE_DOCS_SAMPLES_TUTORIAL_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "sluice.h"

namespace tutorial {

using namespace sluice;  // NOLINT: as in a program

// [input]
struct Batch {
  Output images;  // float [n, 28, 28], from 0 to 1
  Output labels;  // int64 [n], from 0 to 9
};

// Reads `part` ("train" or "t10k") of Fashion-MNIST, n images per step. Without `epochs` it starts
// again after the last image.
inline absl::StatusOr<Batch> Read(Graph& g, const std::string& part, int n,
                                  std::optional<int64_t> epochs = {}) {
  const std::string path = "/usr/share/datasets/fashion-mnist/" + part;
  SLUICE_ASSIGN_OR_RETURN(const auto images, input::IdxFile::Open(path + "-images-idx3-ubyte.gz"));
  SLUICE_ASSIGN_OR_RETURN(const auto labels, input::IdxFile::Open(path + "-labels-idx1-ubyte.gz"));
  const OutputList example = {images.Read(g, {.num_epochs = epochs}),
                              labels.Read(g, {.num_epochs = epochs})};
  const OutputList batch = part == "train" ? input::ShuffleBatch(example, n, 4000, 2000)
                                           : input::Batch(example, n, {.capacity = 2 * n});
  return Batch{Cast(batch[0], DT_FLOAT) / 255.0f, Cast(batch[1], DT_INT64)};
}
// [/input]

// [network]
// Each call uses the same variables.
class Mlp {
 public:
  Output operator()(Output images) { return logits_(hidden2_(hidden1_(layers::Flatten(images)))); }

 private:
  layers::Dense hidden1_{256, {.activation = Relu, .name = "hidden1"}};
  layers::Dense hidden2_{128, {.activation = Relu, .name = "hidden2"}};
  layers::Dense logits_{10, {.name = "logits"}};
};
// [/network]

}  // namespace tutorial

#endif  // SLUICE_DOCS_SAMPLES_TUTORIAL_MODEL_H_
