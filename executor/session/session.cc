#include "executor/session/session.h"

#include <functional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/compiler/pass_table.h"
#include "executor/session/cluster_runner.h"
#include "executor/session/local_runner.h"
#include "executor/session/partial_run.h"
#include "executor/session/remote_runner.h"
#include "executor/session/session_state.h"
#include "executor/trace/metrics.h"
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

std::unique_ptr<Runner> MakeRunner(Graph& graph, TaskExecutor& executor) {
  const SessionOptions& options = executor.options();
  if (options.master != nullptr) {
    return std::make_unique<RemoteRunner>(graph, executor, *options.master);
  }
  if (options.remote_tasks != nullptr) {
    return std::make_unique<ClusterRunner>(graph, executor, *options.remote_tasks);
  }
  return std::make_unique<LocalRunner>(graph, executor);
}

// --- the key of a request

uint64_t Number(const Output& output) {
  return (static_cast<uint64_t>(output.node->id()) << 20) + static_cast<uint64_t>(output.index);
}
uint64_t Number(const Operation& op) { return static_cast<uint64_t>(op.node->id()); }

uint64_t Mix(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7815ull;
  return hash ^ (hash >> 32);
}

// Calls `f` with each number of the key until it returns false.
template <typename F>
bool WalkKey(const StepRequest& request, F f) {
  if (!f(2 * request.num_feeds + (request.is_partial ? 1 : 0)) || !f(request.fetches.size())) {
    return false;
  }
  for (size_t i = 0; i < request.num_feeds; ++i) {
    if (!f(Number(request.feed(i)))) return false;
  }
  for (const Output& fetch : request.fetches) {
    if (!f(Number(fetch))) return false;
  }
  for (const Operation& target : request.targets) {
    if (!f(Number(target))) return false;
  }
  return true;
}

uint64_t HashOf(const StepRequest& request) {
  uint64_t hash = request.targets.size();
  WalkKey(request, [&](uint64_t number) {
    hash = Mix(hash, number);
    return true;
  });
  return hash;
}

bool HasKey(const std::vector<uint64_t>& key, const StepRequest& request) {
  const size_t size = 2 + request.num_feeds + request.fetches.size() + request.targets.size();
  if (key.size() != size) return false;
  size_t i = 0;
  return WalkKey(request, [&](uint64_t number) { return key[i++] == number; });
}

}  // namespace

absl::Status ClosedError() {
  return absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`.");
}

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
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step,
                          state_->StepFor(named.ByHandles(), [&] { return ShapesOf(values); }));
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
                                               absl::Span<const std::string> targets) {
  SLUICE_ASSIGN_OR_RETURN(const NamedRequest named, state_->FindByName(feeds, fetches, targets));
  Callable callable;
  SLUICE_ASSIGN_OR_RETURN(callable.step_, state_->StepFor(named.ByHandles()));
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

// --- SessionState

SessionState::SessionState(Graph& graph, SessionOptions options)
    : graph_(graph), executor_(std::move(options)), runner_(MakeRunner(graph, executor_)) {}
SessionState::~SessionState() = default;

absl::StatusOr<PreparedStep*> SessionState::StepFor(const StepRequest& request, FeedShapes shapes) {
  SLUICE_RETURN_IF_ERROR(CheckRequest(graph_, request));
  if (PreparedStep* step = cache_.Find(request)) return step;
  SLUICE_RETURN_IF_ERROR(executor_.CheckOpen());
  ScopedLock preparing(&prepare_mutex_);
  if (PreparedStep* step = cache_.Find(request)) return step;
  static MetricCounter plans("sluice_plans_total");
  plans.Add();
  SLUICE_RETURN_IF_ERROR(CheckDisabledPasses(options().disabled_passes));
  ReaderLock reading(&graph_mutex_);
  WarnOfGrowth();
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<PreparedStep> step, runner_->Prepare(request, shapes));
  // If the session was closed meanwhile, the step's first Run returns at once.
  ScopedLock lock(&cache_mutex_);
  return cache_.Insert(request, std::move(step));
}

absl::Status SessionState::RunStep(PreparedStep& step, const StepCall& call) {
  for (size_t i = 0; i < call.feeds.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(step.CheckFeed(static_cast<int>(i), *call.feeds[i]));
  }
  if (!has_run_.load(std::memory_order_relaxed)) has_run_.store(true, std::memory_order_relaxed);
  absl::Status status = step.Run(call);
  return status.ok() ? status : Explain(std::move(status));
}

absl::Status SessionState::Explain(absl::Status error) const {
  ReaderLock reading(&graph_mutex_);
  return runner_->Explain(std::move(error));
}

void SessionState::WarnOfGrowth() {
  const int known = std::exchange(known_nodes_, graph_.num_node_ids());
  if (!has_run_.load() || known == 0 || known == known_nodes_) return;
  // Warns at growths 1, 2, 4, 8, …
  ++growths_;
  if ((growths_ & (growths_ - 1)) != 0) return;
  const Node* first = nullptr;
  for (int id = known; id < known_nodes_ && first == nullptr; ++id) first = graph_.node(id);
  if (first == nullptr) return;
  const std::string location = first->location();
  options().warn(
      StrCat("the graph grew by ", known_nodes_ - known, " nodes after its first run, from '",
             first->name(), "' (", first->op(), ")", location.empty() ? "" : " built at ", location,
             "; what is added in a loop makes every step compile again: build it before, "
             "or let Graph::Finalize() refuse it"));
}

absl::StatusOr<NamedRequest> SessionState::FindByName(absl::Span<const std::string> feeds,
                                                      absl::Span<const std::string> fetches,
                                                      absl::Span<const std::string> targets) const {
  ReaderLock reading(&graph_mutex_);
  return sluice::FindByName(graph_, feeds, fetches, targets);
}

absl::Status SessionState::Extend(absl::FunctionRef<absl::Status(Graph&)> change) {
  WriterLock changing(&graph_mutex_);
  return change(graph_);
}

absl::Status SessionState::WhilePreparing(absl::FunctionRef<absl::Status()> f) {
  ScopedLock preparing(&prepare_mutex_);
  ReaderLock reading(&graph_mutex_);
  return f();
}

void SessionState::Close() {
  if (closed_.exchange(true)) return;
  executor_.Close();
  runner_->Close();
  ScopedLock lock(&cache_mutex_);
  cache_.ForEach([](PreparedStep& step) { step.CancelRuns(ClosedError()); });
}

// --- StepCache

StepCache::StepCache() {
  tables_.push_back(std::make_unique<Table>(16));
  table_.store(tables_.back().get());
}

PreparedStep* StepCache::Find(const StepRequest& request) const {
  const uint64_t hash = HashOf(request);
  const Table& table = *table_.load(std::memory_order_acquire);
  const size_t mask = table.slots.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry* entry = table.slots[at].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash == hash && HasKey(entry->key, request)) return entry->step.get();
  }
}

void StepCache::Table::Add(Entry* entry) {
  const size_t mask = slots.size() - 1;
  size_t at = entry->hash & mask;
  while (slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & mask;
  slots[at].store(entry, std::memory_order_release);
}

PreparedStep* StepCache::Insert(const StepRequest& request, std::unique_ptr<PreparedStep> step) {
  if (entries_.size() * 2 >= tables_.back()->slots.size()) {
    auto larger = std::make_unique<Table>(tables_.back()->slots.size() * 2);
    for (const auto& entry : entries_) larger->Add(entry.get());
    tables_.push_back(std::move(larger));
    table_.store(tables_.back().get(), std::memory_order_release);
  }
  auto entry = std::make_unique<Entry>();
  entry->hash = HashOf(request);
  WalkKey(request, [&](uint64_t number) {
    entry->key.push_back(number);
    return true;
  });
  entry->step = std::move(step);
  entries_.push_back(std::move(entry));
  tables_.back()->Add(entries_.back().get());
  return entries_.back()->step.get();
}

void StepCache::ForEach(absl::FunctionRef<void(PreparedStep&)> f) const {
  for (const auto& entry : entries_) f(*entry->step);
}

// --- PreparedStep

absl::Status PreparedStep::CheckFeed(int i, const Tensor& value) const {
  const Output& feed = feeds_[i];
  SLUICE_INVALID_IF(value.dtype() != BaseType(feed.dtype()), "feed '", feed.name(), "': expected ",
                    DataTypeName(BaseType(feed.dtype())), ", got ",
                    value.dtype() == DT_INVALID ? "nothing" : DataTypeName(value.dtype()));
  const PartialShape& shape = feed.shape();
  if (!shape.rank_known()) return absl::OkStatus();
  bool fits = shape.rank() == value.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) {
    fits = shape.dim(d) < 0 || shape.dim(d) == value.dim(d);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("Cannot feed value of shape ", value.shape().ToString(), " for Tensor '",
                         feed.name(), "', which has shape ", shape.ToString());
}

}  // namespace sluice
