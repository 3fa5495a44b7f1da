// Datasets, and values of datasets, that functions make of many elements.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status StateShapes(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return InvalidArgument("`output_shapes` must be the same length as `output_types` (",
                           shapes.size(), " vs. ", c.num_outputs(), ")");
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, shapes[static_cast<size_t>(i)]));
  }
  return absl::OkStatus();
}

OP(GeneratorDataset,
   "What `next_func` makes of the state that `init_func` made, until it says OUT_OF_RANGE; then "
   "`finalize_func` is called.")
    .Input("init_func_other_args", "Tinit_func_args")
    .Input("next_func_other_args", "Tnext_func_args")
    .Input("finalize_func_other_args", "Tfinalize_func_args")
    .Output("handle", DT_VARIANT)
    .Attr("init_func", FunctionAttrDef())
    .Attr("next_func", FunctionAttrDef())
    .Attr("finalize_func", FunctionAttrDef())
    .Attr("Tinit_func_args", TypeListAttr().Min(0))
    .Attr("Tnext_func_args", TypeListAttr().Min(0))
    .Attr("Tfinalize_func_args", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(GroupByReducerDataset,
   "An element a key that `key_func` makes of the elements, in the order of the keys: "
   "`init_func(key)`, then `reduce_func(state, element)` for each of its elements, and "
   "`finalize_func(state)`.")
    .Input("input_dataset", DT_VARIANT)
    .Input("key_func_other_arguments", "Tkey_func_other_arguments")
    .Input("init_func_other_arguments", "Tinit_func_other_arguments")
    .Input("reduce_func_other_arguments", "Treduce_func_other_arguments")
    .Input("finalize_func_other_arguments", "Tfinalize_func_other_arguments")
    .Output("handle", DT_VARIANT)
    .Attr("key_func", FunctionAttrDef())
    .Attr("init_func", FunctionAttrDef())
    .Attr("reduce_func", FunctionAttrDef())
    .Attr("finalize_func", FunctionAttrDef())
    .Attr("Tkey_func_other_arguments", TypeListAttr().Min(0))
    .Attr("Tinit_func_other_arguments", TypeListAttr().Min(0))
    .Attr("Treduce_func_other_arguments", TypeListAttr().Min(0))
    .Attr("Tfinalize_func_other_arguments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Stateful()
    .Shape(ScalarOutput());

OP(GroupByWindowDataset,
   "The elements of the datasets that `reduce_func(key, window)` makes of windows: "
   "`window_size_func(key)` elements of one key of `key_func` behind one another.")
    .Input("input_dataset", DT_VARIANT)
    .Input("key_func_other_arguments", "Tkey_func_other_arguments")
    .Input("reduce_func_other_arguments", "Treduce_func_other_arguments")
    .Input("window_size_func_other_arguments", "Twindow_size_func_other_arguments")
    .Output("handle", DT_VARIANT)
    .Attr("key_func", FunctionAttrDef())
    .Attr("reduce_func", FunctionAttrDef())
    .Attr("window_size_func", FunctionAttrDef())
    .Attr("Tkey_func_other_arguments", TypeListAttr().Min(0))
    .Attr("Treduce_func_other_arguments", TypeListAttr().Min(0))
    .Attr("Twindow_size_func_other_arguments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(MapAndBatchDataset,
   "Batches of `batch_size` results of `f`, each of another element, several calls at a time.")
    .Input("input_dataset", DT_VARIANT)
    .Input("other_arguments", "Targuments")
    .Input("batch_size", DT_INT64)
    .Input("num_parallel_calls", DT_INT64)
    .Input("drop_remainder", DT_BOOL)
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

OP(ReduceDataset,
   "The last state: it begins as `initial_state`, and `f(state, element)` is the next one for each "
   "element.")
    .Input("input_dataset", DT_VARIANT)
    .Input("initial_state", "Tstate")
    .Input("other_arguments", "Targuments")
    .Output("components", "output_types")
    .Attr("f", FunctionAttrDef())
    .Attr("Tstate", TypeListAttr().Min(1))
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("use_inter_op_parallelism", BoolAttr(true))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .NotDifferentiable()
    .Shape(StateShapes);

OP(ScanDataset,
   "What `f(state, element)` makes of the elements behind the next state, which begins as "
   "`initial_state`.")
    .Input("input_dataset", DT_VARIANT)
    .Input("initial_state", "Tstate")
    .Input("other_arguments", "Targuments")
    .Output("handle", DT_VARIANT)
    .Attr("f", FunctionAttrDef())
    .Attr("Tstate", TypeListAttr().Min(1))
    .Attr("Targuments", TypeListAttr().Min(0))
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("preserve_cardinality", BoolAttr(false))
    .Attr("use_default_device", BoolAttr(true))
    .Attr("metadata", StringAttr(""))
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
