// Ops for readers of LMDB databases.
#include "ops/io/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

OP(LMDBReader,
   "Makes a reader of LMDB databases (folders or single files). The records are in the order of "
   "their keys.")
    .With(MakesRefReader)
    .With(ContainerAttrs);

}  // namespace
}  // namespace sluice
