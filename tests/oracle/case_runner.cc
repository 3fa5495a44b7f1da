// Reads oracle requests (case.proto) from stdin and writes the responses to stdout, until stdin
// ends.
//
// A crash is not caught: the caller reports it as the failure of the case and restarts the program.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/kernel/kernel.h"
#include "executor/session/session.h"
#include "graph/format/attr_value.h"
#include "graph/format/graph_def.h"
#include "graph/format/tensor_proto.h"
#include "graph/gradient/gradients.h"
#include "graph/status.h"
#include "tests/oracle/case.pb.h"
#include "tests/oracle/same_results.h"

namespace sluice::oracle {
namespace {

void SetStatus(const absl::Status& status, Status* proto) {
  proto->set_code(static_cast<int>(status.code()));
  proto->set_message(std::string(status.message()));
}

// One request: a graph, additions to it, and the steps to run.
class Case {
 public:
  Case(const Request& request, Answer* answer) : request_(request), answer_(answer) {}

  void Answer() {
    absl::Status imported = ImportGraphDef(request_.graph_def(), graph_).status();
    SetStatus(imported, answer_->mutable_import());
    if (!imported.ok()) return;
    for (const std::string& name : request_.describe()) Describe(name);
    for (const Gradient& gradient : request_.gradient()) {
      GradientAnswer* added = answer_->add_gradient();
      SetStatus(AddGradient(gradient, added), added->mutable_status());
    }
    for (const Run& run : request_.run()) {
      RunAnswer* done = answer_->add_run();
      SetStatus(Step(run, done), done->mutable_status());
    }
  }

 private:
  void Describe(const std::string& name) {
    Described* described = answer_->add_described();
    absl::StatusOr<Output> output = graph_.FindOutput(name);
    if (!output.ok()) return;
    described->set_dtype(output->dtype());
    pb::TensorShapeProto shape;
    ShapeToProto(output->shape(), &shape);
    described->set_shape(shape.SerializeAsString());
  }

  // Tensors of the graph, or gradients that were added before.
  absl::StatusOr<OutputList> Find(const google::protobuf::RepeatedPtrField<std::string>& names) {
    OutputList found;
    for (const std::string& name : names) {
      SLUICE_ASSIGN_OR_RETURN(const Output output, Fetch(name));
      found.push_back(output);
    }
    return found;
  }

  absl::Status AddGradient(const Gradient& gradient, GradientAnswer* added) {
    SLUICE_ASSIGN_OR_RETURN(const OutputList ys, Find(gradient.y()));
    SLUICE_ASSIGN_OR_RETURN(const OutputList xs, Find(gradient.x()));
    SLUICE_ASSIGN_OR_RETURN(const OutputList grad_ys, Find(gradient.grad_y()));
    GradientOptions options;
    options.grad_ys.assign(grad_ys.begin(), grad_ys.end());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Grad> grads, Gradients(ys, xs, options));
    for (size_t i = 0; i < grads.size(); ++i) {
      added->add_exists(!grads[i].is_none());
      gradients_[StrCat(gradient.name(), "/", i)] = ToDense(grads[i]);
    }
    return graph_.status();
  }

  absl::StatusOr<Output> Fetch(const std::string& name) {
    auto it = gradients_.find(name);
    return it == gradients_.end() ? graph_.FindOutput(name) : it->second;
  }

  absl::Status Step(const Run& run, RunAnswer* done) {
    std::vector<sluice::Feed> feeds;
    for (const Feed& feed : run.feed()) {
      pb::TensorProto proto;
      if (!proto.ParseFromString(feed.tensor())) return InvalidArgument("feed is no TensorProto");
      SLUICE_ASSIGN_OR_RETURN(const Output output, graph_.FindOutput(feed.name()));
      SLUICE_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto));
      feeds.push_back({output, std::move(tensor)});
    }
    OutputList fetches;
    for (const std::string& name : run.fetch()) {
      SLUICE_ASSIGN_OR_RETURN(const Output output, Fetch(name));
      if (output) fetches.push_back(output);  // a missing gradient otherwise
    }
    std::vector<Operation> targets;
    for (const std::string& name : run.target()) {
      Node* node = graph_.Find(name);
      if (node == nullptr) return absl::NotFoundError(StrCat("no node '", name, "'"));
      targets.push_back(node);
    }
    if (fetches.empty() && targets.empty()) return absl::OkStatus();  // only missing gradients
    if (session_ == nullptr || run.new_session()) {
      session_ = std::make_unique<Session>(graph_, Threads());
    }
    RunOptions options;
    options.timeout_ms = run.timeout_ms();
    const absl::StatusOr<Tensors> ran = session_->Run(feeds, fetches, targets, options);
    SLUICE_RETURN_IF_ERROR(RunPlain(ran, feeds, fetches, targets, options));
    SLUICE_RETURN_IF_ERROR(ran.status());
    const Tensors& results = *ran;
    for (const Tensor& t : results) {
      pb::TensorProto proto;
      SLUICE_RETURN_IF_ERROR(TensorToContentProto(t, &proto));
      done->add_tensor(proto.SerializeAsString());
    }
    return absl::OkStatus();
  }

  // INTERNAL if a step of a stateless graph gives another result with all passes disabled.
  absl::Status RunPlain(const absl::StatusOr<Tensors>& ran, const std::vector<sluice::Feed>& feeds,
                        const OutputList& fetches, const std::vector<Operation>& targets,
                        const RunOptions& options) {
    const std::vector<Node*> nodes = graph_.nodes();
    const bool may_differ = std::any_of(nodes.begin(), nodes.end(), [](const Node* node) {
      // TensorFlow does not declare these ops stateful, although they draw random numbers.
      const bool draws =
          node->op().starts_with("ExtractGlimpse") || node->op().starts_with("Fractional");
      // The same holds for ops that share state with other steps.
      return draws || node->def().is_stateful ||
             TraitsOfOp(node->op()).impurity == Impurity::kState;
    });
    if (may_differ) return absl::OkStatus();
    SessionOptions plain = Threads();
    plain.disabled_passes = {"all"};
    Session session(graph_, plain);
    const absl::StatusOr<Tensors> found = session.Run(feeds, fetches, targets, options);
    absl::Status same;
    if (ran.status().code() != found.status().code()) {
      same =
          absl::InternalError(StrCat(ran.status().ToString(), " and ", found.status().ToString()));
    } else if (ran.ok()) {
      same = ExpectSame(*ran, *found);
    }
    return same.ok() ? same : Annotate(same, "with every pass and with none: ");
  }

  static SessionOptions Threads() {
    const char* threads = std::getenv("SLUICE_ORACLE_THREADS");
    const int count = threads == nullptr ? 0 : std::atoi(threads);
    return {.cpu_devices = 3, .intra_op_threads = count, .inter_op_threads = count};
  }

  const Request& request_;
  oracle::Answer* answer_;
  Graph graph_;
  std::map<std::string, Output> gradients_;  // invalid for a missing gradient
  std::unique_ptr<Session> session_;
};

void ListOps(Answer* answer) {
  pb::OpList list;
  for (const OpDef* op : OpRegistry::Global().All()) {
    OpDefToProto(*op, list.add_op());
    if (op->gradient) answer->add_differentiable(op->name);
    if (op->not_differentiable) answer->add_not_differentiable(op->name);
    for (const KernelDef& kernel : KernelRegistry::Global().For(op->name)) {
      KernelRow* row = answer->add_kernel();
      row->set_op(op->name);
      for (const auto& [attr, types] : kernel.constraints) {
        auto* constraint = row->add_constraint();
        constraint->set_attr(attr);
        for (DataType t : types.list()) constraint->add_type(t);
      }
    }
  }
  answer->set_op_list(list.SerializeAsString());
}

bool ReadMessage(Request* request) {
  uint32_t size;
  if (std::fread(&size, sizeof(size), 1, stdin) != 1) return false;
  std::string bytes(size, '\0');
  return std::fread(bytes.data(), 1, size, stdin) == size && request->ParseFromString(bytes);
}

bool WriteMessage(const Answer& answer) {
  const std::string bytes = answer.SerializeAsString();
  const uint32_t size = static_cast<uint32_t>(bytes.size());
  return std::fwrite(&size, sizeof(size), 1, stdout) == 1 &&
         std::fwrite(bytes.data(), 1, size, stdout) == size && std::fflush(stdout) == 0;
}

int Main() {
  Request request;
  while (ReadMessage(&request)) {
    Answer answer;
    if (request.list_ops()) {
      ListOps(&answer);
    } else {
      Case(request, &answer).Answer();
    }
    if (!WriteMessage(answer)) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace sluice::oracle

int main() { return sluice::oracle::Main(); }
