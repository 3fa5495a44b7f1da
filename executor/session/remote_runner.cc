#include "executor/session/remote_runner.h"

#include <string>
#include <utility>
#include <vector>

#include "executor/session/explain.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

RemoteMaster::Names NamesOf(const StepRequest& request) {
  RemoteMaster::Names names;
  for (const Output& feed : request.feeds()) names.feeds.push_back(feed.name());
  for (const Output& fetch : request.fetches) names.fetches.push_back(fetch.name());
  for (const Operation& target : request.targets) names.targets.push_back(target.name());
  return names;
}

class RemoteStep final : public PreparedStep {
 public:
  RemoteStep(RemoteRunner& runner, const StepRequest& request)
      : PreparedStep(request.feeds(), request.fetches.size()),
        runner_(runner),
        names_(NamesOf(request)) {}
  absl::Status Run(const StepCall& call) override { return runner_.Run(names_, call); }
  void CancelRuns(const absl::Status&) override {}  // RemoteRunner::Close cancels them

 private:
  RemoteRunner& runner_;
  const RemoteMaster::Names names_;
};

class RemotePartialRun final : public PartialRun {
 public:
  RemotePartialRun(std::shared_ptr<SessionState> session, const NamedRequest& request,
                   RemoteRunner& runner, std::string handle)
      : PartialRun(std::move(session), request), runner_(runner), handle_(std::move(handle)) {}

 private:
  absl::StatusOr<Tensors> RunPiece(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                                   CancellationManager* cancellation) override {
    RemoteMaster::Names names;
    std::vector<const Tensor*> values;
    for (const Feed& feed : feeds) {
      names.feeds.push_back(feed.tensor.name());
      values.push_back(&feed.value);
    }
    for (const Output& fetch : fetches) names.fetches.push_back(fetch.name());
    Tensors fetched(fetches.size());
    absl::Status status =
        runner_.Call(cancellation, [&](RemoteMaster& master, CancellationManager& of_call) {
          RunOptions options;
          options.cancellation = &of_call;
          return master.Run(names, values, fetched.data(), options, nullptr, handle_);
        });
    if (!status.ok()) return session().Explain(std::move(status));
    return fetched;
  }

  RemoteRunner& runner_;
  const std::string handle_;  // of the step at the master
};

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedStep>> RemoteRunner::Prepare(const StepRequest& request,
                                                                    FeedShapes) {
  SLUICE_RETURN_IF_ERROR(master_.Update(graph_));
  return std::make_unique<RemoteStep>(*this, request);
}

absl::StatusOr<std::unique_ptr<PartialRun>> RemoteRunner::StartPartialRun(
    const std::shared_ptr<SessionState>& session, const NamedRequest& request) {
  std::string handle;
  SLUICE_RETURN_IF_ERROR(session->WhilePreparing([&]() -> absl::Status {
    SLUICE_RETURN_IF_ERROR(master_.Update(graph_));
    SLUICE_ASSIGN_OR_RETURN(handle, master_.SetUpPartialRun(NamesOf(request.ByHandles())));
    return absl::OkStatus();
  }));
  return std::make_unique<RemotePartialRun>(session, request, *this, std::move(handle));
}

absl::Status RemoteRunner::Call(
    CancellationManager* cancellation,
    absl::FunctionRef<absl::Status(RemoteMaster&, CancellationManager& of_call)> call) {
  CancellationManager of_call(&closing_);
  absl::Status status;
  {
    const LinkedCancellation caller(cancellation, of_call);
    status = call(master_, of_call);
  }
  return closing_.IsCancelled() && absl::IsCancelled(status) ? ClosedError() : status;
}

absl::Status RemoteRunner::Run(const RemoteMaster::Names& names, const StepCall& call) {
  SLUICE_RETURN_IF_ERROR(executor_.CheckOpen());
  RunOptions options = call.options;
  options.timeout_ms = executor_.TimeoutMs(options);
  return Call(call.options.cancellation, [&](RemoteMaster& master, CancellationManager& of_call) {
    options.cancellation = &of_call;
    Stalls& stalls = executor_.stalls();
    const Stalls::Entry entry =
        stalls.Open({.op = "RunStep", .resource = StrCat("the master at ", master.target())});
    absl::Status status = master.Run(names, call.feeds, call.fetches, options, call.metadata);
    stalls.Close(entry);
    return status;
  });
}

void RemoteRunner::Close() {
  closing_.StartCancel();
  master_.Close().IgnoreError();
}

absl::Status RemoteRunner::Explain(absl::Status error) const {
  return AddLocation(std::move(error), graph_);
}

}  // namespace sluice
