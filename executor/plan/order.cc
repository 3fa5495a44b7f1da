#include "executor/plan/order.h"

#include <deque>

#include "executor/plan/draft.h"
#include "graph/ir/variable_use.h"

namespace sluice {
namespace {

// Whether the item is a source or reads a variable.
bool RunsEarly(const DraftItem& item) {
  if (item.kind == OpKind::kArrival || item.kind == OpKind::kLoopVariable) return true;
  return item.inputs.empty() || (item.node != nullptr && ReadsVariable(*item.node));
}

struct Edges {
  explicit Edges(const DraftBody& body) : waiting(body.items.size(), 0), users(body.items.size()) {
    for (int i = 0; i < static_cast<int>(body.items.size()); ++i) {
      const DraftItem& item = body.items[i];
      for (const DraftInput& in : item.inputs) {
        if (in.item >= 0) Add(in.item, i);
      }
      for (int from : item.controls) Add(from, i);
    }
  }
  void Add(int from, int to) {
    users[from].push_back(to);
    ++waiting[to];
  }

  std::vector<int> waiting;  // the number of edges to each item
  std::vector<std::vector<int>> users;
};

// The items that wait for no other item. Early items are in a queue, which is emptied before the
// stack of the others.
struct ReadyItems {
  ReadyItems(const DraftBody& body, const std::vector<int>& waiting) {
    const int n = static_cast<int>(body.items.size());
    for (int i = 0; i < n; ++i) {
      if (waiting[i] == 0 && RunsEarly(body.items[i])) early.push_back(i);
    }
    for (int i = n; i-- > 0;) {  // the first item is then on top
      if (waiting[i] == 0 && !RunsEarly(body.items[i])) late.push_back(i);
    }
  }
  bool empty() const { return early.empty() && late.empty(); }
  void Add(int i, const DraftItem& item) {
    if (RunsEarly(item)) {
      early.push_back(i);
    } else {
      late.push_back(i);
    }
  }
  int Take() {
    int next;
    if (!early.empty()) {
      next = early.front();
      early.pop_front();
    } else {
      next = late.back();
      late.pop_back();
    }
    return next;
  }

  std::deque<int> early;
  std::vector<int> late;
};

}  // namespace

std::vector<int> ExecutionOrder(const DraftBody& body) {
  const int n = static_cast<int>(body.items.size());
  Edges edges(body);
  std::vector<int>& waiting = edges.waiting;
  for (int i = 0; i < n; ++i) {
    if (body.items[i].is_fused_away) waiting[i] = -1;
  }
  ReadyItems ready(body, waiting);
  std::vector<int> order;
  order.reserve(n);
  while (!ready.empty()) {
    const int next = ready.Take();
    order.push_back(next);
    const std::vector<int>& users = edges.users[next];
    for (size_t u = users.size(); u-- > 0;) {
      if (--waiting[users[u]] == 0) ready.Add(users[u], body.items[users[u]]);
    }
  }
  return order;
}

}  // namespace sluice
