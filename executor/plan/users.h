// Counts the uses of the items of a body (draft.h).
#ifndef SLUICE_EXECUTOR_PLAN_USERS_H_
#define SLUICE_EXECUTOR_PLAN_USERS_H_

#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// The number of data inputs that read an item, and the number of control inputs from it.
struct Users {
  int reads = 0, waits = 0;
};

// Returns the users of each item.
inline std::vector<Users> CountUsers(const DraftBody& body) {
  std::vector<Users> users(body.items.size());
  for (const DraftItem& item : body.items) {
    for (const DraftInput& in : item.inputs) {
      if (in.item >= 0) ++users[in.item].reads;
    }
    for (int c : item.controls) ++users[c].waits;
  }
  return users;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_USERS_H_
