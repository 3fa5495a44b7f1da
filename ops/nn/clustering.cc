// Ops for k-means, which choose the initial centers of clusters and find the nearest centers of
// points.
#include "ops/op.h"

namespace sluice {
namespace {

OP(KMC2ChainInitialization,
   "Returns the index at which a Markov chain over distances ends. A candidate replaces the "
   "current point of the chain with probability min(1, its distance / the current distance).")
    .Input("distances", DT_FLOAT)
    .Input("seed", DT_INT64)
    .Output("index", DT_INT64)
    .Shape(ScalarOutput());

OP(KmeansPlusPlusInitialization,
   "Draws num_to_sample of the points, one after the other, in proportion to their squared "
   "distance to the points drawn before. Takes the best of num_retries_per_sample additional draws "
   "each time (-1: 2 + log num_to_sample).")
    .Input("points", DT_FLOAT)
    .Input("num_to_sample", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("num_retries_per_sample", DT_INT64)
    .Output("samples", DT_FLOAT)
    .Shape(UnknownOutputs());

OP(NearestNeighbors,
   "Finds the k nearest centers of each point by squared distance, the nearest first.")
    .Input("points", DT_FLOAT)
    .Input("centers", DT_FLOAT)
    .Input("k", DT_INT64)
    .Output("nearest_center_indices", DT_INT64)
    .Output("nearest_center_distances", DT_FLOAT)
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
