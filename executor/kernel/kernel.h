// Defines kernels, which compute the nodes of a graph on a device, and the registry of all kernels.
//
// A plan is the compiled form of one combination of feeds, fetches and targets. If the op of a node
// is not stateful, each plan with the node has a kernel of its own for it. If the op is stateful,
// all plans of a session share one kernel, which is found by the name of the node. The Sends and
// Recvs that the runtime inserts are an exception: they have a kernel per plan, because their names
// are unique only within a plan.
//
// Thread safety: several steps may call a kernel at the same time. So Compute must not change the
// kernel without a lock.
// Blocking: Compute never blocks a thread. An op that has to wait (queue, accumulator, Recv) has an
// AsyncKernel, which stores its callback and returns.
//
//   class ReluKernel : public Kernel { … };                     // with state: a class
//   KERNEL(Relu, ReluKernel);
//   template <typename T> absl::Status Relu(KernelContext& c);  // without state: a function
//   FUNCTION_KERNELS(Relu, "T", Relu, RealList);
#ifndef SLUICE_EXECUTOR_KERNEL_KERNEL_H_
#define SLUICE_EXECUTOR_KERNEL_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op/attr.h"
#include "graph/op/op_def.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class Node;
class KernelContext;
class ResourceManager;

// The argument of a kernel's constructor: describes the kernel's node and its device.
class KernelInit {
 public:
  KernelInit(const Node& node, std::string device_name, ResourceManager* resources)
      : node_(node), device_name_(std::move(device_name)), resources_(resources) {}

  const Node& node() const { return node_; }
  const std::string& name() const;
  const std::string& device_name() const { return device_name_; }
  ResourceManager& resources() const { return *resources_; }
  int num_inputs() const;
  int num_outputs() const;
  // The declared type: a ref type if the input or output is a reference to a variable.
  DataType input_type(int i) const;
  DataType output_type(int i) const;
  // The range [first, last) of the inputs or outputs that belong to argument `arg` of the op, which
  // may be a list. {0, 0} if the op has no such argument.
  std::pair<int, int> InputRange(std::string_view arg) const;
  std::pair<int, int> OutputRange(std::string_view arg) const;

  // Returns an attribute of the node. The op's declaration must guarantee that the node has the
  // attribute and that its C++ type is T.
  template <typename T>
  const T& attr(std::string_view attr_name) const {
    return std::get<T>(FindAttr(attr_name));
  }
  template <typename T>
  T AttrOr(std::string_view attr_name, T otherwise) const {
    const T* v = std::get_if<T>(&FindAttr(attr_name));
    return v ? *v : otherwise;
  }

 private:
  // Returns a value that holds std::monostate if the node does not have the attribute.
  const AttrValue& FindAttr(std::string_view attr_name) const;
  const Node& node_;
  std::string device_name_;
  ResourceManager* resources_;
};

class AsyncKernel;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::Status Compute(KernelContext& context) = 0;
  virtual AsyncKernel* AsAsync() { return nullptr; }
  // False if the kernel is so cheap (at most a few hundred nanoseconds) that handing it to another
  // thread costs more than running it.
  virtual bool IsExpensive() const { return true; }
};

// A kernel of an op that may have to wait. ComputeAsync returns without waiting. The kernel must
// call `done` exactly once, from any thread, without holding a lock. `context` is valid until that
// call.
class AsyncKernel : public Kernel {
 public:
  using Done = std::function<void(absl::Status)>;
  virtual void ComputeAsync(KernelContext& context, Done done) = 0;
  absl::Status Compute(KernelContext&) final {
    return absl::InternalError("asynchronous kernel called synchronously");
  }
  AsyncKernel* AsAsync() final { return this; }
};

// A registered kernel of an op. If an op has several KernelDefs, a node uses the first one whose
// device type, label and constraints fit the node.
struct KernelDef {
  std::string op;
  std::string device_type = "CPU";
  // Attributes of the node that are a type or a list of types, each with the types it may have.
  std::vector<std::pair<std::string, TypeSet>> constraints;
  // Fits the nodes whose attribute `_kernel` is this label. Empty: nodes without that attribute.
  std::string label;
  std::function<absl::StatusOr<std::unique_ptr<Kernel>>(KernelInit&)> make;
};

class KernelRegistry {
 public:
  static KernelRegistry& Global();
  void Add(KernelDef def);
  // Returns the kernel that the node uses on a device of this type. NOT_FOUND "No OpKernel was
  // registered to support Op …" if no kernel fits the node. The error lists the op's kernels.
  absl::StatusOr<const KernelDef*> Find(const Node& node, std::string_view device_type) const;
  absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init,
                                               std::string_view device_type) const;
  // Returns all kernels of an op, in the order of registration. Empty if there are none.
  const std::vector<KernelDef>& For(std::string_view op) const;

 private:
  std::map<std::string, std::vector<KernelDef>, std::less<>> kernels_;
};

// The name of an attribute, in a form that can be a template argument: Attr<bool, "transpose_a">.
template <size_t kSize>
struct AttrName {
  constexpr AttrName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }  // NOLINT
  char text[kSize];
};

// A parameter of a kernel function: the attribute `kName` of the kernel's node, or `kOtherwise` if
// the node lacks it. Without `kOtherwise` the op's declaration must guarantee the attribute.
template <typename T, AttrName kName, auto... kOtherwise>
struct Attr {
  explicit Attr(const KernelInit& init) : value(Of(init)) {}
  operator const T&() const { return value; }  // NOLINT: stands for its value

  const T value;

 private:
  static T Of(const KernelInit& init) {
    if constexpr (sizeof...(kOtherwise) == 0) {
      return init.attr<T>(kName.text);
    } else {
      return init.AttrOr<T>(kName.text, kOtherwise...);
    }
  }
};

// A parameter of a kernel function: the value that kPrepare(KernelInit&) returns. kPrepare is
// called once, when the kernel is made. It may return a StatusOr. If it returns an error, the
// kernel is not made, and compiling the step fails with this error.
template <auto kPrepare>
class Prepared {
 public:
  explicit Prepared(KernelInit& init) : value_(kPrepare(init)) {}
  const absl::Status& status() const { return value_.status(); }
  const auto& operator*() const { return *value_; }
  const auto* operator->() const { return &*value_; }

 private:
  template <typename T>
  static absl::StatusOr<T> OrError(T value);
  template <typename T>
  static absl::StatusOr<T> OrError(absl::StatusOr<T> value);
  const decltype(OrError(kPrepare(std::declval<KernelInit&>()))) value_;
};

// A kernel without mutable state, whose Compute calls kFunction. The first parameter of kFunction
// is the context. Each other parameter has a type that is constructible from KernelInit&, such as
// Attr or Prepared, and is constructed once, when the kernel is made.
//   absl::Status Join(KernelContext& c, const Attr<std::string, "separator">& separator);
//   KERNEL(StringJoin, FunctionKernel<Join>);
template <auto kFunction, bool kExpensive = true>
class FunctionKernel;

template <typename... Parameters, absl::Status (*kFunction)(KernelContext&, Parameters...),
          bool kExpensive>
class FunctionKernel<kFunction, kExpensive> final : public Kernel {
 public:
  explicit FunctionKernel(KernelInit& init) : parameters_(InitOf<Parameters>(init)...) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    auto kernel = std::make_unique<FunctionKernel>(init);
    absl::Status status;
    std::apply([&](const auto&... parameters) { (status.Update(StatusOf(parameters)), ...); },
               kernel->parameters_);
    SLUICE_RETURN_IF_ERROR(status);
    return kernel;
  }
  absl::Status Compute(KernelContext& context) override {
    return std::apply([&](auto&... parameters) { return kFunction(context, parameters...); },
                      parameters_);
  }
  bool IsExpensive() const override { return kExpensive; }

 private:
  template <typename Parameter>
  static KernelInit& InitOf(KernelInit& init) {
    return init;
  }
  template <typename Parameter>
  static absl::Status StatusOf(const Parameter& parameter) {
    if constexpr (requires { parameter.status(); }) return parameter.status();
    return absl::OkStatus();
  }
  std::tuple<std::remove_cvref_t<Parameters>...> parameters_;
};
template <auto kFunction>
using CheapFunctionKernel = FunctionKernel<kFunction, false>;

struct KernelRegistrar {
  KernelRegistrar(KernelDef def) { KernelRegistry::Global().Add(std::move(def)); }  // NOLINT
};

namespace kernel_internal {
// Makes a kernel of class K with the first of these that K has:
// 1. `static StatusOr<unique_ptr<Kernel>> Make(KernelInit&)`
// 2. a constructor from KernelInit&
// 3. a default constructor
template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(KernelInit& init) {
  if constexpr (requires { K::Make(init); }) {
    return K::Make(init);
  } else if constexpr (std::is_constructible_v<K, KernelInit&>) {
    return std::unique_ptr<Kernel>(new K(init));
  } else {
    return std::unique_ptr<Kernel>(new K());
  }
}

template <template <typename> class K, typename... Ts>
bool RegisterFor(const char* op, const char* attr, TypeList<Ts...>) {
  (KernelRegistry::Global().Add(
       {.op = op, .constraints = {{attr, TypeSet(kDataTypeOf<Ts>)}}, .make = &MakeKernel<K<Ts>>}),
   ...);
  return true;
}
}  // namespace kernel_internal

#define SLUICE_KERNEL_NAME_INNER_(line, op) sluice_kernel_##op##_##line
#define SLUICE_KERNEL_NAME_(line, op) SLUICE_KERNEL_NAME_INNER_(line, op)

// KERNEL(NoOp, NoOpKernel) registers one class for all types.
// KERNEL(Cast, CastKernel, {"SrcT", RealTypes()}, …) registers the class only for nodes whose
// attribute SrcT is one of these types.
#define KERNEL(op_name, kernel_class, ...)                                          \
  static const ::sluice::KernelRegistrar SLUICE_KERNEL_NAME_(__COUNTER__, op_name)( \
      ::sluice::KernelDef{.op = #op_name,                                           \
                          .constraints = {__VA_ARGS__},                             \
                          .make = &::sluice::kernel_internal::MakeKernel<kernel_class>})

// KERNELS(Relu, "T", ReluKernel, RealList) registers ReluKernel<T> for each type T of the list.
#define KERNELS(op_name, attr, kernel_template, ...)            \
  static const bool SLUICE_KERNEL_NAME_(__COUNTER__, op_name) = \
      ::sluice::kernel_internal::RegisterFor<kernel_template>(#op_name, attr, __VA_ARGS__{})

// FUNCTION_KERNELS(Relu, "T", Relu, RealList) registers the function Relu<T> for each T.
#define FUNCTION_KERNELS(op_name, attr, function_template, ...) \
  SLUICE_FUNCTION_KERNELS_(op_name, attr, function_template, __COUNTER__, __VA_ARGS__)
// The alias has the op in its name, so that it differs between files. For an alias template, g++
// gives the instance of RegisterFor external linkage, even if the alias is in an unnamed namespace.
// If aliases of two files had the same name, the linker would merge their two instances.
#define SLUICE_FUNCTION_KERNELS_(op_name, attr, function_template, line, ...)                 \
  template <typename T>                                                                       \
  using SLUICE_KERNEL_NAME_(line, op_name) = ::sluice::FunctionKernel<&function_template<T>>; \
  KERNELS(op_name, attr, SLUICE_KERNEL_NAME_(line, op_name), __VA_ARGS__)

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_KERNEL_H_
