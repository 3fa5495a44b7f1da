// Forward declarations of the protocol messages in public headers. Code that creates or reads a
// message includes graph/format/proto/<file>.pb.h; other code compiles faster without it.
#ifndef SLUICE_GRAPH_FORMAT_MESSAGES_H_
#define SLUICE_GRAPH_FORMAT_MESSAGES_H_

namespace sluice::pb {

class Event;
class GraphDef;
class MetaGraphDef;
class QueueRunnerDef;
class RunMetadata;
class SavedModel;
class SaverDef;
class SessionLog;
class Summary;
class SummaryMetadata;

}  // namespace sluice::pb

#endif  // SLUICE_GRAPH_FORMAT_MESSAGES_H_
