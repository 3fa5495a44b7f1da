// Sluice's front door: everything that a program which builds, differentiates, trains and runs
// graphs includes.
#ifndef SLUICE_H_
#define SLUICE_H_

#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/step/stall_signal.h"
#include "graph/build/cond.h"
#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/gradient/gradients.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/graph.h"
#include "graph/lint/lint.h"
#include "graph/tensor/tensor.h"
#include "ops/builders/ops.h"
#include "ops/builders/partitioned_variable.h"
#include "ops/builders/queue.h"
#include "ops/builders/sugar.h"
#include "ops/builders/tensor_array.h"
#include "ops/builders/variable.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/saved_model.h"
#include "training/checkpoint/saver.h"
#include "training/loop/coordinator.h"
#include "training/loop/queue_runner.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"
#include "training/sync/check_progress.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_hook.h"
#include "training/sync/sync_replicas_optimizer.h"

#endif  // SLUICE_H_
