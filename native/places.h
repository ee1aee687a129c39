// Where edits go: places in the graph by number, found from a node in a few nanoseconds.
//
// Weights live as long as their model, and no other tensor comes to lie where they are: the address
// of one tells its place for good. That holds for one model, and so for one context.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "layout.h"
#include "plan.h"

namespace veneer {

class Places {
  public:
    // The number of a place, given to it if it is new.
    int32_t intern(Role role, const std::string &name);
    // The number of the place of a weight, or -1.
    int32_t of_weight(Role role, Node weight);
    // The number of the place of a node by its own name, or -1.
    int32_t of_node(Node node) const;
    // Whether any place has this role.
    bool has(Role role) const { return roles_ >> int(role) & 1; }
    int32_t count() const { return int32_t(numbers_.size()); }

  private:
    int32_t find(Role role, const char *name) const;

    std::unordered_map<std::string, int32_t> numbers_;
    std::unordered_map<uintptr_t, int32_t> weights_;
    uint32_t roles_ = 0;
};

} // namespace veneer
