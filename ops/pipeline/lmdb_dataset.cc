// The op for datasets whose elements are the pairs of key and value in LMDB databases.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

OP(LMDBDataset,
   "Reads the keys and values of LMDB databases (folders or single files), in the order of the "
   "keys.")
    .Input("filenames", DT_STRING)
    .With(MakesDataset)
    .With(ElementAttrs)
    .Stateful();

OLDER_NAME(ExperimentalLMDBDataset, LMDBDataset);

}  // namespace
}  // namespace sluice
