// Readers of LMDB databases.
#include "ops/op.h"

namespace sluice {
namespace {

OP(LMDBReader,
   "A reader of LMDB databases (a folder, or a file of its own), in the order of their keys. Keys "
   "are the database's.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

}  // namespace
}  // namespace sluice
