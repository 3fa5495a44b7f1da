// Defines the C++ objects to which the handles of the C API (sluice_c.h) point.
//
// Thread safety and ownership: as sluice_c.h says.
#ifndef SLUICE_C_API_HANDLES_H_
#define SLUICE_C_API_HANDLES_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "sluice_c.h"
#include "training/checkpoint/saved_model.h"
#include "training/checkpoint/saver.h"

namespace sluice::c_api {

// A graph, and the parts of its file that are not nodes. The graph's handle and all its sessions
// share it.
struct LoadedGraph {
  Graph graph;
  pb::MetaGraphDef meta;                                // without graph_def
  std::optional<SavedModel> saved;                      // nullopt unless loaded from a SavedModel
  Mutex mutex;                                          // held while the saver is made
  std::set<std::string> names ABSL_GUARDED_BY(mutex);   // to which callers have pointers
  std::unique_ptr<Saver> saver ABSL_GUARDED_BY(mutex);  // null before the first use

  // A copy of `name` that lives as long as the graph.
  const char* Keep(const std::string& name) {
    ScopedLock lock(&mutex);
    return names.insert(name).first->c_str();
  }
};

// A new error with the code and message of `status`. Null for OK.
sluice_error* ErrorOf(const absl::Status& status);

// A copy of the caller's struct, whose first field is its size. Fields that an older caller lacks
// are zero. If `given` is null, all fields are zero. INVALID_ARGUMENT, with a text that begins with
// `what`, if the size is too small even for the field `size`.
template <typename T>
absl::StatusOr<T> WithAllFields(std::string_view what, const T* given) {
  T all = {};
  if (given == nullptr) return all;
  SLUICE_INVALID_IF(given->size < sizeof(given->size), what,
                    ": expected the size of the struct in the field 'size', got ", given->size);
  std::memcpy(&all, given, std::min(given->size, sizeof(T)));
  return all;
}

}  // namespace sluice::c_api

struct sluice_error {
  absl::StatusCode code;
  std::string message;
};

struct sluice_tensor {
  sluice::Tensor tensor;
};

struct sluice_graph {
  std::shared_ptr<sluice::c_api::LoadedGraph> loaded;
};

struct sluice_cancellation {
  sluice::CancellationManager manager;
};

struct sluice_session {
  std::shared_ptr<sluice::c_api::LoadedGraph> loaded;  // outlives the session
  std::unique_ptr<sluice::Session> session;
};

#endif  // SLUICE_C_API_HANDLES_H_
