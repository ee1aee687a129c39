// llama.cpp's eval callback: edits the outputs of the nodes at which a plan has an edit.
//
// Order of a decode: `begin` takes the plans and the batch -> llama.cpp asks at each node before it
// computes (`asked`), and calls again after those that were wanted (`computed`) -> `finish` says
// what went wrong. Asking is cheap but each wanted node costs a start of llama.cpp's threads. So a
// product waits, unwanted, where the graph is known to go on with a node that can edit it in passing
// (see `riders`), or with another product of the same input (up after gate), to be edited with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apply.h"
#include "layout.h"
#include "places.h"
#include "plan.h"
#include "reach.h"
#include "riders.h"
#include "rows.h"
#include "script.h"

namespace veneer {

using Plans = std::vector<std::shared_ptr<const Plan>>;

class Overlay {
  public:
    // `rides`: every node is computed by ggml's own threads, so that nodes may be riders.
    Overlay(const Layout &layout, int n_threads, bool copies, bool rides);

    // From the next `begin` on. May come from another thread while a decode runs, but not at the
    // time of `begin` (Python's lock sees to that).
    void publish(std::shared_ptr<const Plan> plan);
    // `plans` empty: every row has the published plan. Otherwise `rows` has an index for each token.
    void begin(std::vector<int32_t> tokens, Plans plans, std::vector<int32_t> rows);
    // The first thing that went wrong, or nothing.
    std::string finish();
    // Hits of each edit since `begin`; zeros for a plan that took no part.
    std::vector<int64_t> hits(const Plan *plan) const;

    static bool callback(void *tensor, bool ask, void *user_data);

  private:
    // A wanted node, with the place of its edit.
    struct Wanted {
        void *tensor;
        int32_t place;
    };

    bool asked(Node node);
    void computed(Node node);
    void watch_rows(Node node);
    int32_t place_of(Node node);
    int32_t search(Node node);
    int32_t place_of_either(Role role, Node node);
    bool targeted(int32_t place) const;

    bool wants(Node node, int32_t place);
    void arrive(Node node);
    void *meeting_place(Node product);
    bool can_ride(Node product) const;
    void ride(Node node);

    void activate(Plans plans);
    void edit(Wanted wanted, Work &work);
    void finish_work(Work &work);
    void edit_group(Node node, int32_t place, const Group &group, int64_t n, Work &work);
    void edit_experts(Node node, const Edit &edit, const Group &group, Work &work);
    void check(Node node, const Edit &edit) const;
    void collect(Node node, const Group &group, int64_t n, bool with_input, Strip &strip);
    void note_input(const Wanted &wanted, Node node);
    // Let go of what was to be edited, in a decode that is worthless by now.
    void abandon();
    void fail(const std::string &reason);

    Layout layout_;
    Reach reach_;
    Applier applier_;
    Riders riders_;
    bool rides_;
    Places places_;
    Script script_;
    Batch batch_;
    // What is to be done to the nodes that were computed last.
    Work work_;

    std::shared_ptr<const Plan> published_;
    std::atomic<bool> has_published_{false};
    Plans active_;
    // By place, then by plan: the index of the edit in its plan, or -1.
    std::vector<int32_t> edits_;
    // By place: whether any plan has an edit there.
    std::vector<bool> targeted_;
    std::vector<std::vector<int64_t>> hits_;
    bool decoding_ = false;
    std::string error_;

    // The node that was wanted last, which is computed next.
    Wanted current_ = {nullptr, -1};
    // Products that wait, and the node for which they do: a rider-to-be, or a product of their input.
    std::vector<Wanted> waiting_;
    void *awaited_ = nullptr;
    // Places that were edited since the input was last another.
    void *input_ = nullptr;
    std::vector<int32_t> same_input_;
    // Open tensors of the edit that runs.
    char *x_ = nullptr, *y_ = nullptr;
};

} // namespace veneer
