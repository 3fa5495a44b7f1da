// Forward declarations of the protocol buffer messages that public headers mention. Code that
// creates or reads a message includes graph/format/proto/<file>.pb.h. Other code compiles faster
// without the generated header.
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
