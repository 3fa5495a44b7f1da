// The C API of Sluice, for C and for languages that call C. It loads graphs, trains and runs them
// in this process or on a server, and saves and restores checkpoints. docs/c_api.md shows complete
// programs.
//
//   sluice_graph* graph;
//   sluice_session* session;
//   sluice_tensor* loss;
//   const char* fetch = "loss:0";
//   sluice_error* error = sluice_graph_load("model.meta", &graph);
//   if (error == NULL) error = sluice_session_new(graph, NULL, NULL, &session);
//   if (error == NULL) {
//     error = sluice_session_run(session, NULL, 0, &fetch, 1, &loss, NULL, 0, NULL);
//   }
//
// Errors: a function that can fail returns NULL, or an error that the caller frees. After an error,
//   the results are unchanged. Nothing throws. RESOURCE_EXHAUSTED if a tensor does not fit in
//   memory. If there is no memory for the library's own small objects, the process ends.
// Ownership: the caller frees every handle that a function creates, with the sluice_*_free function
//   of its type, in any order. Freeing NULL does nothing. Arguments are only read during the call,
//   except the memory that sluice_tensor_wrap gets. No handle or text may be NULL unless a comment
//   says so. A `const char*` result is valid as long as the handle that it comes from.
// Thread safety: different handles may be used by different threads at the same time. One tensor
//   may be read by any number of threads. sluice_session_run, sluice_session_save,
//   sluice_session_restore, sluice_session_close and sluice_cancellation_cancel may be called by
//   any number of threads at the same time. If steps update variables during a save or restore, the
//   saved or restored values may be of different steps. sluice_graph_minimize,
//   sluice_graph_initializer, and the first sluice_session_new after one of them, change the graph:
//   no other call may use the graph or run its steps meanwhile. A handle may be freed when no other
//   thread uses it.
// Names: as in TensorFlow. "x:0" is output 0 of node "x"; "x" stands for the same tensor or, as a
//   target, for the node.
// Versions: functions, constants and fields are added, never changed. Option structs begin with
//   their size, so that programs with older headers run with newer libraries. INVALID_ARGUMENT if
//   the field `size` of a struct is not set.
#ifndef SLUICE_C_H_
#define SLUICE_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SLUICE_NOEXCEPT noexcept
extern "C" {
#else
#define SLUICE_NOEXCEPT
#endif

// Grows with each addition to this header.
#define SLUICE_C_API_VERSION 1
// The SLUICE_C_API_VERSION of the library. It must be at least that of the header.
int32_t sluice_api_version(void) SLUICE_NOEXCEPT;

// Errors.
typedef struct sluice_error sluice_error;

// Codes, with the numbers of TensorFlow and gRPC.
enum sluice_code {
  SLUICE_OK = 0,
  SLUICE_CANCELLED = 1,
  SLUICE_UNKNOWN = 2,
  SLUICE_INVALID_ARGUMENT = 3,
  SLUICE_DEADLINE_EXCEEDED = 4,
  SLUICE_NOT_FOUND = 5,
  SLUICE_ALREADY_EXISTS = 6,
  SLUICE_PERMISSION_DENIED = 7,
  SLUICE_RESOURCE_EXHAUSTED = 8,
  SLUICE_FAILED_PRECONDITION = 9,
  SLUICE_ABORTED = 10,
  SLUICE_OUT_OF_RANGE = 11,
  SLUICE_UNIMPLEMENTED = 12,
  SLUICE_INTERNAL = 13,
  SLUICE_UNAVAILABLE = 14,
  SLUICE_DATA_LOSS = 15,
  SLUICE_UNAUTHENTICATED = 16
};

// The code of the error. SLUICE_OK for NULL.
int32_t sluice_error_code(const sluice_error* error) SLUICE_NOEXCEPT;
// The message, which names the node, what was expected and what was received. "" for NULL.
const char* sluice_error_message(const sluice_error* error) SLUICE_NOEXCEPT;
void sluice_error_free(sluice_error* error) SLUICE_NOEXCEPT;

// Tensors: a type, a shape and elements in row-major order. They do not change.
typedef struct sluice_tensor sluice_tensor;

// Types, with TensorFlow's numbers.
enum sluice_type {
  SLUICE_FLOAT = 1,
  SLUICE_DOUBLE = 2,
  SLUICE_INT32 = 3,
  SLUICE_UINT8 = 4,
  SLUICE_INT16 = 5,
  SLUICE_INT8 = 6,
  SLUICE_STRING = 7,
  SLUICE_COMPLEX64 = 8,
  SLUICE_INT64 = 9,
  SLUICE_BOOL = 10,
  SLUICE_BFLOAT16 = 14,
  SLUICE_UINT16 = 17,
  SLUICE_COMPLEX128 = 18,
  SLUICE_HALF = 19,
  SLUICE_UINT32 = 22,
  SLUICE_UINT64 = 23
};

// Makes a tensor of numbers in the caller's memory, which is not copied. `bytes` must be the size
// of all elements, and `data` must be aligned for an element. When the library no longer needs the
// memory, it calls release(data, context) once, on any thread. The caller must not write to the
// memory before this call. If a variable took the tensor as its value, the call can come long after
// the handle is freed. `release` may be NULL. It is not called if this function fails.
sluice_error* sluice_tensor_wrap(int32_t type, const int64_t* dims, int32_t rank, void* data,
                                 size_t bytes, void (*release)(void* data, void* context),
                                 void* context, sluice_tensor** tensor) SLUICE_NOEXCEPT;
// Makes a tensor of numbers with a copy of the elements.
sluice_error* sluice_tensor_copy(int32_t type, const int64_t* dims, int32_t rank, const void* data,
                                 size_t bytes, sluice_tensor** tensor) SLUICE_NOEXCEPT;
// Makes a tensor of strings, which are copied. There is one pointer and one size per element.
sluice_error* sluice_tensor_strings(const int64_t* dims, int32_t rank, const char* const* values,
                                    const size_t* sizes, sluice_tensor** tensor) SLUICE_NOEXCEPT;
void sluice_tensor_free(sluice_tensor* tensor) SLUICE_NOEXCEPT;

int32_t sluice_tensor_type(const sluice_tensor* tensor) SLUICE_NOEXCEPT;
int32_t sluice_tensor_rank(const sluice_tensor* tensor) SLUICE_NOEXCEPT;
// The size of dimension i. -1 unless 0 <= i < rank.
int64_t sluice_tensor_dim(const sluice_tensor* tensor, int32_t i) SLUICE_NOEXCEPT;
int64_t sluice_tensor_elements(const sluice_tensor* tensor) SLUICE_NOEXCEPT;
// The elements in the tensor's memory, and their size in bytes. A fetched tensor can share the
// memory of a variable or a constant, so it must not be written. NULL and 0 for strings.
const void* sluice_tensor_data(const sluice_tensor* tensor) SLUICE_NOEXCEPT;
size_t sluice_tensor_bytes(const sluice_tensor* tensor) SLUICE_NOEXCEPT;
// Element i of a tensor of strings, in the tensor's memory. It does not end in '\0'. NULL and 0 if
// there is no such element.
const char* sluice_tensor_string(const sluice_tensor* tensor, int64_t i,
                                 size_t* size) SLUICE_NOEXCEPT;

// Graphs.
typedef struct sluice_graph sluice_graph;

// Loads a graph from a file (a GraphDef or MetaGraphDef, binary or text), or the serving graph from
// the folder of a SavedModel. Only a MetaGraphDef and a SavedModel list the graph's variables.
// NOT_FOUND if there is no such file, INVALID_ARGUMENT if it is not a valid graph.
sluice_error* sluice_graph_load(const char* path, sluice_graph** graph) SLUICE_NOEXCEPT;
// Loads one graph of the SavedModel in `folder`: the graph that has exactly these tags. NOT_FOUND
// if there is none.
sluice_error* sluice_graph_load_saved_model(const char* folder, const char* const* tags,
                                            size_t num_tags, sluice_graph** graph) SLUICE_NOEXCEPT;
// Parses a GraphDef or MetaGraphDef, binary or text. INVALID_ARGUMENT if it is not a valid graph.
sluice_error* sluice_graph_parse(const void* bytes, size_t size,
                                 sluice_graph** graph) SLUICE_NOEXCEPT;
// Frees the handle. Sessions of the graph keep what they need.
void sluice_graph_free(sluice_graph* graph) SLUICE_NOEXCEPT;

// The name of the tensor that an input or output of a signature stands for. NOT_FOUND, with the
// existing signatures or keys, if there is no such signature or key.
sluice_error* sluice_graph_signature_input(sluice_graph* graph, const char* signature,
                                           const char* key, const char** tensor) SLUICE_NOEXCEPT;
sluice_error* sluice_graph_signature_output(sluice_graph* graph, const char* signature,
                                            const char* key, const char** tensor) SLUICE_NOEXCEPT;

// A constant hyper-parameter of an optimizer: "learning_rate", "momentum", "beta1", …
typedef struct sluice_hyper_parameter {
  const char* name;
  double value;
} sluice_hyper_parameter;

// Adds nodes that update all trainable variables so that the tensor `loss` becomes smaller, and
// that count the global step if the graph has one. `optimizer` is the name of a class of
// training/optimizer: "GradientDescent", "Momentum", "Adam", … docs/c_api.md lists them with their
// hyper-parameters, which have TensorFlow's defaults. `train` becomes the name of the op that makes
// one update. NOT_FOUND if there is no such optimizer, hyper-parameter or loss; for an optimizer or
// a hyper-parameter, the error lists the existing names. After any other error, the graph may only
// be freed.
sluice_error* sluice_graph_minimize(sluice_graph* graph, const char* loss, const char* optimizer,
                                    const sluice_hyper_parameter* parameters, size_t num_parameters,
                                    const char** train) SLUICE_NOEXCEPT;
// Adds an op that gives all variables, including those of optimizers, their initial values. `init`
// becomes its name. After an error, the graph may only be freed.
sluice_error* sluice_graph_initializer(sluice_graph* graph, const char** init) SLUICE_NOEXCEPT;

// Cancels steps. After sluice_cancellation_cancel, the steps that use the object end with
// CANCELLED: those in progress soon, later ones immediately.
typedef struct sluice_cancellation sluice_cancellation;

sluice_cancellation* sluice_cancellation_new(void) SLUICE_NOEXCEPT;
void sluice_cancellation_cancel(sluice_cancellation* cancellation) SLUICE_NOEXCEPT;
void sluice_cancellation_free(sluice_cancellation* cancellation) SLUICE_NOEXCEPT;

// Sessions.
typedef struct sluice_session sluice_session;

// Options of a session. Zero in a field means its default.
typedef struct sluice_session_options {
  size_t size;               // sizeof(sluice_session_options)
  int32_t intra_op_threads;  // threads per op; default: one per core
  int32_t inter_op_threads;  // ops of a step that run at the same time; default: one per core
  int32_t allow_soft_placement;
  int64_t timeout_ms;          // of each step; default: no limit
  int64_t connect_timeout_ms;  // of a remote session; default: a minute
  // TLS and authentication of a remote session: PEM files, the name in the server's certificate,
  // and the token of the cluster.
  const char* tls_ca;
  const char* tls_cert;
  const char* tls_key;
  const char* tls_server_name;
  const char* token;
} sluice_session_options;

typedef struct sluice_run_options {
  size_t size;                        // sizeof(sluice_run_options)
  int64_t timeout_ms;                 // 0: the timeout_ms of the session's options
  sluice_cancellation* cancellation;  // outlives the step; NULL: none
  int32_t check_numerics;             // ends the step at the first NaN or infinity
} sluice_run_options;

typedef struct sluice_feed {
  const char* name;
  const sluice_tensor* value;
} sluice_feed;

// `target` is NULL for a session in this process, which has its own variables, or
// "grpc://host:port" for one on a server. `options` may be NULL. UNAVAILABLE if the server does not
// answer in time.
sluice_error* sluice_session_new(sluice_graph* graph, const char* target,
                                 const sluice_session_options* options,
                                 sluice_session** session) SLUICE_NOEXCEPT;
// Ends the steps in progress with CANCELLED. Later steps fail immediately.
sluice_error* sluice_session_close(sluice_session* session) SLUICE_NOEXCEPT;
void sluice_session_free(sluice_session* session) SLUICE_NOEXCEPT;

// Runs one step: feeds values, computes the fetches, and runs the targets for their effects. Blocks
// until the step has ended. fetched[i] becomes the value of fetches[i], which the caller frees. A
// local session copies neither feeds nor fetched values. `options` may be NULL.
sluice_error* sluice_session_run(sluice_session* session, const sluice_feed* feeds,
                                 size_t num_feeds, const char* const* fetches, size_t num_fetches,
                                 sluice_tensor** fetched, const char* const* targets,
                                 size_t num_targets,
                                 const sluice_run_options* options) SLUICE_NOEXCEPT;

// Checkpoints. Saves all variables of the graph as "<prefix>-<global_step>", or "<prefix>" if
// global_step is negative. Never deletes older checkpoints; the caller may. INVALID_ARGUMENT if the
// graph lists no variables.
sluice_error* sluice_session_save(sluice_session* session, const char* prefix,
                                  int64_t global_step) SLUICE_NOEXCEPT;
// Restores all variables from a checkpoint, or from the latest one in a folder. NULL stands for the
// SavedModel that the graph was loaded from; its init op then runs too. INVALID_ARGUMENT if there
// is no such checkpoint. FAILED_PRECONDITION if `checkpoint` is NULL and the graph is not from a
// SavedModel.
sluice_error* sluice_session_restore(sluice_session* session,
                                     const char* checkpoint) SLUICE_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#undef SLUICE_NOEXCEPT

#endif  // SLUICE_C_H_
