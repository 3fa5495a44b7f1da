// Declares EdgeList, an intrusive doubly linked list of graph edges. A Node (graph.h) has three:
// the readers of its outputs, its control inputs and its control outputs, in order of creation.
//
// Erasing an edge takes constant time, so that passes remove all readers of a tensor in linear
// time. Ownership: the list does not own the edges. Iterators are valid until an edge is added to
// the list or erased from it.
#ifndef SLUICE_GRAPH_IR_EDGE_LIST_H_
#define SLUICE_GRAPH_IR_EDGE_LIST_H_

#include <cstddef>
#include <iterator>

namespace sluice {

// The neighbors of an edge in one list. Null at the ends of the list. An edge has a member of this
// type for each list that it may be in.
template <typename Edge>
struct EdgeLinks {
  Edge* before = nullptr;
  Edge* after = nullptr;
};

// A list of objects of type Edge. The member `kLinks` of an edge holds its neighbors in this list.
// An iterator dereferences to the member `kValue` of an edge: a list of control inputs, for
// example, is a range of Node*.
template <typename Edge, typename Value, EdgeLinks<Edge> Edge::*kLinks, Value Edge::*kValue>
class EdgeList {
 public:
  using value_type = Value;
  using const_reference = const Value&;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = const Value&;

    const_iterator() = default;
    explicit const_iterator(const Edge* edge) : edge_(edge) {}
    reference operator*() const { return edge_->*kValue; }
    pointer operator->() const { return &(edge_->*kValue); }
    const_iterator& operator++() {
      edge_ = (edge_->*kLinks).after;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator here = *this;
      ++*this;
      return here;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    const Edge* edge_ = nullptr;
  };
  using iterator = const_iterator;

  const_iterator begin() const { return const_iterator(first_); }
  const_iterator end() const { return const_iterator(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Value& front() const { return first_->*kValue; }
  Edge* first() const { return first_; }  // null if the list is empty

  void Append(Edge* edge) {
    (edge->*kLinks) = {.before = last_, .after = nullptr};
    (last_ != nullptr ? (last_->*kLinks).after : first_) = edge;
    last_ = edge;
    ++size_;
  }
  // Removes `edge`, which must be in the list. Does not delete it.
  void Erase(Edge* edge) {
    const auto [before, after] = edge->*kLinks;
    (before != nullptr ? (before->*kLinks).after : first_) = after;
    (after != nullptr ? (after->*kLinks).before : last_) = before;
    --size_;
  }

 private:
  Edge* first_ = nullptr;
  Edge* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_EDGE_LIST_H_
