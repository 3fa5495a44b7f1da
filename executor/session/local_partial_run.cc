#include "executor/session/local_partial_run.h"

#include <utility>

#include "executor/passes/prune.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Collects the fetches of one piece of a partial run as the step sends them.
class Arrivals {
 public:
  explicit Arrivals(size_t count) : missing_(count), values_(count) {}

  void Set(size_t i, absl::Status status, Tensor value) {
    ScopedLock lock(&mutex_);
    if (status.ok()) values_[i] = std::move(value);
    if (status_.ok()) status_ = std::move(status);
    if (--missing_ == 0) all_.NotifyAll();
  }
  absl::StatusOr<Tensors> Wait() {
    ScopedLock lock(&mutex_);
    while (missing_ != 0) all_.Wait(&mutex_);
    if (!status_.ok()) return status_;
    return std::move(values_);
  }

 private:
  Mutex mutex_;
  CondVar all_;
  size_t missing_ ABSL_GUARDED_BY(mutex_);
  Tensors values_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

LocalPartialRun::LocalPartialRun(std::shared_ptr<SessionState> session, const NamedRequest& request,
                                 PreparedStep& step)
    : PartialRun(std::move(session), request), step_(step) {}

absl::StatusOr<std::unique_ptr<PartialRun>> LocalPartialRun::Start(
    std::shared_ptr<SessionState> session, const NamedRequest& request, PreparedStep& step) {
  std::unique_ptr<LocalPartialRun> run(new LocalPartialRun(std::move(session), request, step));
  ScopedLock lock(&run->join_mutex_);
  SLUICE_ASSIGN_OR_RETURN(run->thread_, Thread::Start("partial run", ThreadUse::kGraphs,
                                                      [r = run.get()] { r->RunStep(); }));
  lock.Unlock();
  return run;
}

void LocalPartialRun::RunStep() {
  RunOptions options;
  options.cancellation = &cancellation_;
  status_ = session().RunStep(
      step_, {.feeds = {}, .fetches = nullptr, .options = options, .client = &rendezvous_});
  // If the step has failed, pending receives must not wait. Otherwise it has sent all fetches.
  if (!status_.ok()) rendezvous_.StartAbort(status_);
}

LocalPartialRun::~LocalPartialRun() {
  End(absl::CancelledError("the partial run is destroyed")).IgnoreError();
}

std::string LocalPartialRun::KeyOf(const Output& tensor) const {
  return ClientKey(tensor, session().devices().device(0).name);
}

absl::Status LocalPartialRun::CheckFeedValue(const Output& feed, const Tensor& value) const {
  for (size_t i = 0; i < step_.feeds().size(); ++i) {
    if (step_.feeds()[i] == feed) return step_.CheckFeed(static_cast<int>(i), value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> LocalPartialRun::Receive(absl::Span<const Output> fetches) {
  if (fetches.empty()) return Tensors();
  Arrivals arrivals(fetches.size());
  for (size_t i = 0; i < fetches.size(); ++i) {
    rendezvous_.RecvAsync(
        KeyOf(fetches[i]), nullptr, [&, i](absl::Status status, Tensor value, bool is_dead) {
          if (status.ok() && is_dead) {
            status =
                InvalidArgument("The tensor returned for ", fetches[i].name(), " was not valid.");
          }
          arrivals.Set(i, std::move(status), std::move(value));
        });
  }
  return arrivals.Wait();
}

absl::StatusOr<Tensors> LocalPartialRun::RunPiece(absl::Span<const Feed> feeds,
                                                  absl::Span<const Output> fetches,
                                                  CancellationManager* cancellation) {
  const LinkedCancellation caller(cancellation, cancellation_);
  absl::Status status;
  for (const Feed& feed : feeds) {
    status.Update(rendezvous_.Send(KeyOf(feed.tensor), feed.value, /*is_dead=*/false));
  }
  absl::StatusOr<Tensors> received = Receive(fetches);
  if (!status.ok()) return status;
  return received;
}

absl::Status LocalPartialRun::End(const absl::Status& status) {
  if (!status.ok()) cancellation_.StartCancel();
  ScopedLock lock(&join_mutex_);
  thread_.Join();
  return status_;
}

}  // namespace sluice
