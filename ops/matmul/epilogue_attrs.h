// The attributes of fused ops (ops/matmul/epilogue.h), for OpDefBuilder::With.
#ifndef SLUICE_OPS_MATMUL_EPILOGUE_ATTRS_H_
#define SLUICE_OPS_MATMUL_EPILOGUE_ATTRS_H_

#include "graph/op/op_def.h"

namespace sluice {

inline void EpilogueAttrs(OpDefBuilder& b) {
  b.Attr("fused_ops", StringListAttr({}))
      .Attr("epsilon", FloatAttr(0.0001f))
      .Attr("leakyrelu_alpha", FloatAttr(0.2f));
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_EPILOGUE_ATTRS_H_
