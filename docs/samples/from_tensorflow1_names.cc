// The names in the right columns of docs/from_tensorflow1.md exist. A name that does not is an
// error of the compiler. docs/from_tensorflow1_test.py compares this list with the page.
#include "sluice.h"
#include "sluice_cluster.h"

namespace {

#define SLUICE_JOIN2(a, b) a##b
#define SLUICE_JOIN(a, b) SLUICE_JOIN2(a, b)
// A name of a namespace.
#define NAME(name)                            \
  namespace SLUICE_JOIN(name_, __COUNTER__) { \
    using sluice::name;                       \
  }
// A member of a class.
#define MEMBER(type, name)                                        \
  struct SLUICE_JOIN(Member, __COUNTER__) : public sluice::type { \
    using sluice::type::name;                                     \
  };

NAME(Graph)
NAME(Placeholder)
NAME(PlaceholderWithDefault)
NAME(Constant)
NAME(Variable)
MEMBER(Variable, Find)
NAME(InitializeVariables)
NAME(InitializeLocalVariables)
NAME(InitializeTables)
NAME(NameScope)
NAME(DeviceScope)
NAME(ControlDependencies)
NAME(Group)
NAME(Cond)
NAME(WhileLoop)
NAME(Gradients)
NAME(StopGradient)
NAME(Gather)
MEMBER(Variable, ScatterUpdate)
NAME(TensorArray)
MEMBER(Graph, SetRandomSeed)
MEMBER(Graph, Collection)
MEMBER(Graph, AddToCollection)
NAME(Session)
MEMBER(RemoteSession, Connect)
MEMBER(Session, Run)
MEMBER(Session, MakeCallable)
MEMBER(Session, StartPartialRun)
NAME(RunOptions)
NAME(RunMetadata)
MEMBER(RunOptions, check_numerics)
NAME(layers::Dense)
NAME(layers::Conv2D)
NAME(layers::BatchNormalization)
NAME(layers::UpdateOps)
NAME(layers::LstmCell)
NAME(layers::DynamicRnn)
NAME(EmbeddingLookup)
NAME(EmbeddingLookupSparse)
NAME(SafeEmbeddingLookupSparse)
NAME(losses::SampledSoftmax)
NAME(losses::Nce)
NAME(PartitionedVariable)
NAME(FixedSizePartitions)
NAME(losses::SparseSoftmaxCrossEntropy)
NAME(losses::Total)
NAME(metrics::Accuracy)
NAME(metrics::Auc)
NAME(Adam)
NAME(Momentum)
NAME(GlobalStep)
NAME(ExponentialDecay)
NAME(ClipByGlobalNorm)
NAME(ExponentialMovingAverage)
NAME(MonitoredSession)
NAME(MonitoredTrainingSession)
NAME(Scaffold)
NAME(SessionRunHook)
NAME(StopAtStep)
NAME(LoggingTensorHook)
NAME(Progress)
NAME(SummarySaverHook)
NAME(ProfilerHook)
NAME(Saver)
NAME(LatestCheckpoint)
NAME(CheckpointReader)
NAME(SavedModelBuilder)
NAME(LoadSavedModel)
NAME(summary::Scalar)
NAME(summary::Histogram)
NAME(summary::Image)
NAME(summary::MergeAll)
NAME(SummaryFileWriter)
NAME(Estimator)
MEMBER(Queue, Fifo)
NAME(input::StringInputProducer)
NAME(input::Batch)
NAME(input::ShuffleBatch)
NAME(Coordinator)
NAME(StartQueueRunners)
NAME(ParseExampleV2)
NAME(ClusterSpec)
NAME(Cluster)
MEMBER(Cluster, FromEnvironment)
NAME(Server)
NAME(ReplicaDevices)
NAME(SyncReplicasOptimizer)
NAME(MirroredStrategy)

#undef MEMBER
#undef NAME

}  // namespace
