// The fixed binary tree over block numbers in which partial statistics are merged.
//
// A node of level l and number k covers the blocks [k 2^l, (k + 1) 2^l). Two siblings are merged as soon as
// both exist, left with right, so the result depends on the block numbers alone. Any range of blocks leaves
// at most two nodes per level, so memory grows with the logarithm of the number of members.
#pragma once

#include <vector>

namespace zwang {

// Value merge(const Value& left, const Value& right)
template <class Value, auto merge>
class MergeTree {
 public:
  struct Node {
    int level = 0;
    long long number = 0;
    Value value;
    long long first_block() const { return number << level; }
    long long end_block() const { return (number + 1) << level; }
  };

  // The node must begin where the last one ended.
  void push(Node node) {
    while (!nodes_.empty() && nodes_.back().level == node.level && nodes_.back().number + 1 == node.number &&
           node.number % 2 != 0) {
      node = {node.level + 1, node.number / 2, merge(nodes_.back().value, node.value)};
      nodes_.pop_back();
    }
    nodes_.push_back(std::move(node));
  }

  // All nodes merged, from right to left; `none` if there are no nodes.
  Value folded(Value none) const {
    if (nodes_.empty()) return none;
    Value sum = nodes_.back().value;
    for (std::size_t k = nodes_.size() - 1; k-- > 0;) sum = merge(nodes_[k].value, sum);
    return sum;
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;  // ascending, without gaps
};

}  // namespace zwang
