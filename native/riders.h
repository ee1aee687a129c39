// Nodes of llama.cpp's graph that carry out edits in passing.
//
// Where llama.cpp stops for us, that costs a start of its threads. But between a product and what
// reads it there often is a node that computes nothing (a view) or only adds (the residual). Such a
// node is made a call of a function of ours, which edits the product on llama.cpp's own threads,
// without a stop, and does the node's sum itself. Once it is computed, it is again what it was: the
// graph is used for many tokens, and the next one may be under another plan.
#pragma once

#include <cstdint>
#include <deque>

#include "apply.h"
#include "layout.h"

namespace veneer {

// The sum that a node was to compute: out = a + b by rows, b's the same for all where its step is 0.
struct Sum {
    char *out = nullptr;
    const char *a = nullptr, *b = nullptr;
    int64_t out_step = 0, a_step = 0, b_step = 0;
    int64_t rows = 0, width = 0;
};

class Riders {
  public:
    Riders(const Layout &layout, Applier &applier) : layout_(layout), applier_(applier) {}
    // Whether the node can carry out the edit of the product, which was computed just before.
    bool can_take(Node node, Node product) const;
    // The work, without a job yet, of the node that is taken next.
    Work &next();
    // Have the node do that work when it is computed.
    void take(Node node);
    // Make the node what it was, if it is a rider.
    void restore(Node node);
    void restore_all();

  private:
    struct Rider {
        Applier *applier = nullptr;
        void *node = nullptr;
        Work work;
        Sum sum;
        // What the node was.
        int32_t op = 0, tasks = 0;
        void *function = nullptr, *data = nullptr;
    };
    static void call(void *node, const void *input, int t, int threads, void *rider);
    static void add(Rider &rider, int t, int threads);
    bool is_rider(Node node) const;

    const Layout &layout_;
    Applier &applier_;
    // A deque: they stay where they are, since nodes point to them.
    std::deque<Rider> riders_;
    size_t count_ = 0;
};

} // namespace veneer
