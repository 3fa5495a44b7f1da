// Kernels of the ops that enqueue to and dequeue from queues (use_queue.cc).
#include <algorithm>
#include <optional>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/fifo_queue.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

// Base of kernels that use the queue which input 0 names.
class QueueUser : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) final {
    absl::StatusOr<std::shared_ptr<QueueResource>> queue = BorrowNamed<QueueResource>(c, 0);
    if (!queue.ok()) return done(queue.status());
    Use(c, **queue, std::move(done));
  }
  bool IsExpensive() const override { return false; }

 protected:
  virtual void Use(KernelContext& c, QueueResource& queue, Done done) = 0;
};

absl::Status CheckTimeout(const KernelInit& init) {
  if (init.AttrOr<int64_t>("timeout_ms", -1) == -1) return absl::OkStatus();
  return InvalidArgument("Timeout not supported yet.");
}

// Returns the type of the handle, as TensorFlow writes it in the text of a signature.
std::string HandleText(const KernelContext& c) {
  return c.input_is_ref(0) ? "string_ref" : "resource";
}

class EnqueueKernel : public QueueUser {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_RETURN_IF_ERROR(CheckTimeout(init));
    return std::unique_ptr<Kernel>(new EnqueueKernel(init));
  }

 protected:
  void Use(KernelContext& c, QueueResource& queue, Done done) override {
    Tensors element;
    element.reserve(static_cast<size_t>(c.num_inputs()) - 1);
    for (int i = 1; i < c.num_inputs(); ++i) element.push_back(c.TakeInput(i));
    const std::vector<DataType>& expected = queue.options().types;
    const auto has_type = [](const Tensor& t, DataType type) { return t.dtype() == type; };
    if (!std::equal(element.begin(), element.end(), expected.begin(), expected.end(), has_type)) {
      std::vector<DataType> types;
      for (const Tensor& t : element) types.push_back(t.dtype());
      return done(InvalidArgument("Signature mismatch, have: ", HandleText(c), ", ",
                                  TypesText(types), "-> expected: ", HandleText(c), ", ",
                                  TypesText(expected), "->"));
    }
    if (is_many_) {
      queue.EnqueueMany(CallerOf(c), std::move(element), std::move(done), replaces_);
    } else {
      queue.Enqueue(CallerOf(c), std::move(element), std::move(done));
    }
  }

 private:
  explicit EnqueueKernel(KernelInit& init)
      : is_many_(init.node().op().starts_with("QueueEnqueueMany")),
        replaces_(init.AttrOr<bool>("_replaces", false)) {}
  const bool is_many_;
  const bool replaces_;
};

class DequeueKernel : public QueueUser {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_RETURN_IF_ERROR(CheckTimeout(init));
    return std::unique_ptr<Kernel>(new DequeueKernel(init));
  }

 protected:
  void Use(KernelContext& c, QueueResource& queue, Done done) override {
    if (absl::MakeConstSpan(types_) != queue.taken_types()) {
      const std::string handle =
          amount_ == Amount::kOne ? HandleText(c) : HandleText(c) + ", int32";
      return done(InvalidArgument("Signature mismatch, have: ", handle, "->", TypesText(types_),
                                  " expected: ", handle, "->", TypesText(queue.taken_types())));
    }
    if (amount_ == Amount::kOne) {
      if (std::optional<Tensors> element = queue.DequeueAtOnce(CallerOf(c))) {
        SetOutputs(c, 0, *std::move(element));
        return done(absl::OkStatus());
      }
    }
    QueueResource::Taken taken = [&c, done = std::move(done)](absl::StatusOr<Tensors> element) {
      if (element.ok()) SetOutputs(c, 0, *std::move(element));
      done(element.status());
    };
    if (amount_ == Amount::kOne) return queue.Dequeue(CallerOf(c), std::move(taken));

    const Tensor& n = c.input(1);
    if (!n.shape().IsScalar()) {
      return taken(InvalidArgument("Input 'n' must be a scalar, got shape ", n.shape().ToString()));
    }
    const int32_t count = n.scalar<int32_t>();
    if (count < 0) {
      return taken(InvalidArgument(
          amount_ == Amount::kMany ? "DequeueManyOp requested " : "DequeueUpToOp requested ", count,
          " < 0 elements"));
    }
    if (amount_ == Amount::kMany) {
      queue.DequeueMany(CallerOf(c), count, std::move(taken));
    } else {
      queue.DequeueUpTo(CallerOf(c), count, std::move(taken));
    }
  }

 private:
  enum class Amount { kOne, kMany, kUpTo };
  explicit DequeueKernel(KernelInit& init)
      : amount_(init.node().op().starts_with("QueueDequeueMany")   ? Amount::kMany
                : init.node().op().starts_with("QueueDequeueUpTo") ? Amount::kUpTo
                                                                   : Amount::kOne),
        types_(init.attr<std::vector<DataType>>("component_types")) {}
  const Amount amount_;
  const std::vector<DataType> types_;
};

class CloseKernel : public QueueUser {
 public:
  explicit CloseKernel(KernelInit& init)
      : cancel_pending_enqueues_(init.AttrOr<bool>("cancel_pending_enqueues", false)),
        reason_(init.AttrOr<std::string>("_reason", "")) {}

 protected:
  void Use(KernelContext& c, QueueResource& queue, Done done) override {
    queue.Close(CallerOf(c), cancel_pending_enqueues_, std::move(done), reason_);
  }

 private:
  const bool cancel_pending_enqueues_;
  const std::string reason_;
};

absl::Status QueueSize(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto queue, LookupNamed<QueueResource>(c, 0));
  return SetScalarOutput(c, static_cast<int32_t>(queue->size()));
}

absl::Status QueueIsClosed(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto queue, LookupNamed<QueueResource>(c, 0));
  return SetScalarOutput(c, queue->is_closed());
}

absl::Status SetGlobalStep(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto queue, LookupNamed<QueueResource>(c, 0));
  auto* const fifo = dynamic_cast<FifoQueue*>(queue.get());
  SLUICE_INVALID_IF(fifo == nullptr, c.node().Describe(), ": expected a FIFO queue, got a ",
                    queue->options().kind);
  const Tensor& step = c.input(1);
  SLUICE_INVALID_IF(!step.shape().IsScalar(), c.node().Describe(),
                    ": expected new_global_step to be a scalar, ", "got shape ",
                    step.shape().ToString());
  fifo->SetGlobalStep(step.scalar<int64_t>());
  return absl::OkStatus();
}

KERNEL(QueueClose, CloseKernel);
KERNEL(QueueCloseV2, CloseKernel);
KERNEL(QueueDequeue, DequeueKernel);
KERNEL(QueueDequeueV2, DequeueKernel);
KERNEL(QueueDequeueMany, DequeueKernel);
KERNEL(QueueDequeueManyV2, DequeueKernel);
KERNEL(QueueDequeueUpTo, DequeueKernel);
KERNEL(QueueDequeueUpToV2, DequeueKernel);
KERNEL(QueueEnqueue, EnqueueKernel);
KERNEL(QueueEnqueueV2, EnqueueKernel);
KERNEL(QueueEnqueueMany, EnqueueKernel);
KERNEL(QueueEnqueueManyV2, EnqueueKernel);
KERNEL(QueueIsClosed, CheapFunctionKernel<QueueIsClosed>);
KERNEL(QueueIsClosedV2, CheapFunctionKernel<QueueIsClosed>);
KERNEL(QueueSetGlobalStep, CheapFunctionKernel<SetGlobalStep>);
KERNEL(QueueSize, CheapFunctionKernel<QueueSize>);
KERNEL(QueueSizeV2, CheapFunctionKernel<QueueSize>);

}  // namespace
}  // namespace sluice
