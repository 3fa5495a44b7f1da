#include "executor/session/session.h"

#include <functional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/session/partial_run.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

using FeedPointers = absl::InlinedVector<const Tensor*, 32>;

absl::StatusOr<Tensors> RunForTensors(SessionState& state, PreparedStep& step,
                                      const FeedPointers& feeds, const RunOptions& options,
                                      RunMetadata* metadata) {
  Tensors fetches(step.num_fetches());
  SLUICE_RETURN_IF_ERROR(state.RunStep(step, {feeds, fetches.data(), options, metadata}));
  return fetches;
}

std::vector<TensorShape> ShapesOf(const FeedPointers& feeds) {
  std::vector<TensorShape> shapes;
  for (const Tensor* feed : feeds) shapes.push_back(feed->shape());
  return shapes;
}

bool LieWithin(absl::Span<const Tensor> feeds, const Tensors& fetches) {
  const std::less<const Tensor*> is_before;
  return !feeds.empty() && !is_before(feeds.data(), fetches.data()) &&
         is_before(feeds.data(), fetches.data() + fetches.size());
}

}  // namespace

// --- Session

Session::Session(Graph& graph, SessionOptions options)
    : state_(std::make_shared<SessionState>(graph, std::move(options))) {}
Session::~Session() = default;

DeviceSet& Session::devices() const { return state_->devices(); }
Graph& Session::graph() const { return state_->graph(); }
const SessionOptions& Session::options() const { return state_->options(); }

absl::StatusOr<Tensors> Session::Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                                     absl::Span<const Operation> targets, const RunOptions& options,
                                     RunMetadata* metadata) {
  StepRequest request;
  if (!feeds.empty()) request.first_feed = &feeds[0].tensor;
  request.feed_stride = sizeof(Feed);
  request.num_feeds = feeds.size();
  request.fetches = fetches;
  request.targets = targets;
  request.cancellation = options.cancellation;
  request.timeout_ms = options.timeout_ms;
  FeedPointers values;
  for (const Feed& feed : feeds) values.push_back(&feed.value);
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step,
                          state_->StepFor(request, [&] { return ShapesOf(values); }));
  return RunForTensors(*state_, *step, values, options, metadata);
}

absl::Status Session::Run(absl::Span<const Operation> targets) {
  StepRequest request;
  request.targets = targets;
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step, state_->StepFor(request));
  return state_->RunStep(*step, {{}, nullptr, RunOptions()});
}

absl::StatusOr<Tensors> Session::Run(absl::Span<const NamedFeed> feeds,
                                     absl::Span<const std::string> fetches,
                                     absl::Span<const std::string> targets,
                                     const RunOptions& options, RunMetadata* metadata) {
  std::vector<std::string> fed;
  FeedPointers values;
  for (const NamedFeed& feed : feeds) {
    fed.push_back(feed.tensor);
    values.push_back(&feed.value);
  }
  SLUICE_ASSIGN_OR_RETURN(const NamedRequest named, state_->FindByName(fed, fetches, targets));
  StepRequest request = named.ByHandles();
  request.cancellation = options.cancellation;
  request.timeout_ms = options.timeout_ms;
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step,
                          state_->StepFor(request, [&] { return ShapesOf(values); }));
  return RunForTensors(*state_, *step, values, options, metadata);
}

absl::StatusOr<Callable> Session::MakeCallable(absl::Span<const Output> feeds,
                                               absl::Span<const Output> fetches,
                                               absl::Span<const Operation> targets) {
  StepRequest request;
  if (!feeds.empty()) request.first_feed = feeds.data();
  request.num_feeds = feeds.size();
  request.fetches = fetches;
  request.targets = targets;
  Callable callable;
  SLUICE_ASSIGN_OR_RETURN(callable.step_, state_->StepFor(request));
  callable.session_ = state_;
  return callable;
}

absl::StatusOr<Callable> Session::MakeCallable(absl::Span<const std::string> feeds,
                                               absl::Span<const std::string> fetches,
                                               absl::Span<const std::string> targets,
                                               CancellationManager* cancellation) {
  SLUICE_ASSIGN_OR_RETURN(const NamedRequest named, state_->FindByName(feeds, fetches, targets));
  StepRequest request = named.ByHandles();
  request.cancellation = cancellation;
  Callable callable;
  SLUICE_ASSIGN_OR_RETURN(callable.step_, state_->StepFor(request));
  callable.session_ = state_;
  return callable;
}

absl::StatusOr<std::unique_ptr<PartialRun>> Session::StartPartialRun(
    absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
    absl::Span<const std::string> targets) {
  SLUICE_ASSIGN_OR_RETURN(const NamedRequest named, state_->FindByName(feeds, fetches, targets));
  return state_->runner().StartPartialRun(state_, named);
}

absl::Status Session::Extend(absl::FunctionRef<absl::Status(Graph&)> change) {
  return state_->Extend(change);
}

absl::Status Session::PlaceAll() { return state_->runner().PlaceAll(); }

std::vector<Stalls::Report> Session::Stalls() const { return state_->stalls().Describe(); }
std::string Session::StallReport() const { return state_->stalls().ToString(); }

absl::Status Session::Close() {
  state_->Close();
  return absl::OkStatus();
}

absl::Status Callable::RunInto(absl::Span<const Tensor> feeds, Tensors* fetches,
                               const RunOptions& options, RunMetadata* metadata) const {
  if (step_ == nullptr) return absl::FailedPreconditionError("an empty Callable was run");
  SLUICE_INVALID_IF(feeds.size() != step_->feeds().size(), "Expected ", step_->feeds().size(),
                    " feed tensors, but got ", feeds.size());
  if (LieWithin(feeds, *fetches)) {
    SLUICE_ASSIGN_OR_RETURN(*fetches, Run(feeds, options, metadata));
    return absl::OkStatus();
  }
  FeedPointers values;
  for (const Tensor& feed : feeds) values.push_back(&feed);
  // The step reuses their memory while it is in the caches.
  for (Tensor& fetch : *fetches) fetch.Clear();
  fetches->resize(step_->num_fetches());
  return session_->RunStep(*step_, {values, fetches->data(), options, metadata});
}

absl::StatusOr<Tensors> Callable::Run(absl::Span<const Tensor> feeds, const RunOptions& options,
                                      RunMetadata* metadata) const {
  Tensors fetches;
  SLUICE_RETURN_IF_ERROR(RunInto(feeds, &fetches, options, metadata));
  return fetches;
}

}  // namespace sluice
