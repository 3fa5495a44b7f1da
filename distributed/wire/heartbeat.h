// How soon a peer that answers nothing counts as gone.
#ifndef SLUICE_DISTRIBUTED_WIRE_HEARTBEAT_H_
#define SLUICE_DISTRIBUTED_WIRE_HEARTBEAT_H_

namespace sluice {

// While calls wait for a peer from which nothing comes, it is asked every `interval_ms` whether it
// is there; when nothing has come for `timeout_ms`, the calls end with UNAVAILABLE.
struct Heartbeat {
  int interval_ms = 2'000;
  int timeout_ms = 10'000;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_HEARTBEAT_H_
