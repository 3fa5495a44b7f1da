// Centers of clusters: where k-means starts, and which center is near.
#include "ops/op.h"

namespace sluice {
namespace {

OP(KMC2ChainInitialization,
   "The index at which a Markov chain over distances ends: a candidate takes the chain's place "
   "with probability min(1, its distance / the place's).")
    .Input("distances", DT_FLOAT)
    .Input("seed", DT_INT64)
    .Output("index", DT_INT64)
    .Shape(ScalarOutput());

OP(KmeansPlusPlusInitialization,
   "num_to_sample of the points, drawn one after the other in proportion to their squared distance "
   "to those that were drawn; the best of num_retries_per_sample more draws each time (-1: 2 + log "
   "num_to_sample).")
    .Input("points", DT_FLOAT)
    .Input("num_to_sample", DT_INT64)
    .Input("seed", DT_INT64)
    .Input("num_retries_per_sample", DT_INT64)
    .Output("samples", DT_FLOAT)
    .Shape(UnknownOutputs());

OP(NearestNeighbors, "The k nearest centers of each point, the nearest first, by squared distance.")
    .Input("points", DT_FLOAT)
    .Input("centers", DT_FLOAT)
    .Input("k", DT_INT64)
    .Output("nearest_center_indices", DT_INT64)
    .Output("nearest_center_distances", DT_FLOAT)
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
