// The names of the protocol messages that public headers speak of. Who makes or reads one includes
// its own header, graph/format/proto/<file>.pb.h; the others need not pay for reading it.
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
