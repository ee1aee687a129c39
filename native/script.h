// The nodes of the last pass over a graph, in their order, and what each was found to be.
//
// llama.cpp asks at every node of every pass, about a thousand times a token, and mostly of the very
// graph that it ran before: then a node is known by where it stands, without any search.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.h"

namespace veneer {

class Script {
  public:
    struct Line {
        void *tensor, *src0, *src1;
        int32_t op, place;
        // Whether the node is, as it lies there now, what was noted.
        bool is(Node node) const;
    };
    // A decode begins, at the first node of some graph.
    void rewind() { next_ = 0; }
    // Takes a step. The node's place as it was noted, or UNKNOWN: then it must be noted now.
    int32_t step(Node node);
    // What the node of the last step is: a place, or -1 for none.
    void note(Node node, int32_t place);
    void clear();
    // The node that came so many nodes after the last step the last time, or null.
    const Line *ahead(size_t count) const;

    static constexpr int32_t UNKNOWN = -2;

  private:
    bool stands(size_t at, Node node) const;

    std::vector<Line> lines_;
    size_t next_ = 0;
};

} // namespace veneer
