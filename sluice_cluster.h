// The second header of Sluice: servers, clusters, and sessions in other processes. It adds to
// sluice.h what needs gRPC:
//
//   Server          runs one task of a cluster in this process
//   ClusterSpec     the jobs and addresses of a cluster, also from TF_CONFIG and from launchers
//   ReplicaDevices  puts variables on parameter servers, and all other nodes on the worker
//   RemoteSession   runs the steps of a graph on a server
//   Monitor         asks servers what they wait for, and for their metrics
//
// docs/distributed.md shows how to use them. The included headers state thread safety, ownership
// and errors. Link //:sluice_cluster, or the installed library.
#ifndef SLUICE_CLUSTER_H_
#define SLUICE_CLUSTER_H_

#include "distributed/client/monitor.h"
#include "distributed/client/remote_session.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/server/server.h"

#endif  // SLUICE_CLUSTER_H_
