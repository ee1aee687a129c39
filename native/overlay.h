// llama.cpp's eval callback: edits the outputs of the nodes at which a plan has an edit.
//
// Order of a decode: `begin` takes the plans and the batch -> llama.cpp asks at each node before it
// computes (`asked`), and calls again after those that were wanted (`computed`) -> `finish` says
// what went wrong. Asking is cheap but each wanted node costs a start of llama.cpp's threads, so
// products of one input that follow each other (gate and up) are wanted once, at the last.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "apply.h"
#include "layout.h"
#include "places.h"
#include "plan.h"
#include "reach.h"
#include "rows.h"
#include "script.h"

namespace veneer {

using Plans = std::vector<std::shared_ptr<const Plan>>;

class Overlay {
  public:
    Overlay(const Layout &layout, int n_threads, bool copies);

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
    bool wants(Node node, int32_t place);
    bool wants_after(Node node, int32_t place);
    bool passes(Node node, int32_t place);
    void learn(Node node, int32_t place);
    bool is_view(Node node) const;
    bool targeted(int32_t place) const;

    void activate(Plans plans);
    void edit(Wanted wanted);
    void run_jobs();
    void edit_group(Node node, int32_t place, const Group &group, int64_t n);
    void edit_experts(Node node, const Edit &edit, const Group &group);
    void check(Node node, const Edit &edit) const;
    void collect(Node node, const Group &group, int64_t n, bool with_input, Strip &strip);
    void note_input(const Wanted &wanted, Node node);
    void fail(const std::string &reason);

    Layout layout_;
    Reach reach_;
    Applier applier_;
    Places places_;
    Script script_;
    Batch batch_;
    // What is to be done to the nodes that were computed last.
    std::vector<Job> jobs_;

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
    // Products that were passed over because the next one of the same input follows.
    std::vector<Wanted> passed_;
    // By place: the place of the product that follows at once, learned when both were wanted; -1
    // where it did not always follow.
    std::unordered_map<int32_t, int32_t> follower_;
    // The wanted product before, while nothing but views came after it.
    Wanted before_ = {nullptr, -1};
    // Places that were edited since the input was last another.
    void *input_ = nullptr;
    std::vector<int32_t> same_input_;
    // Open tensors of the edit that runs.
    char *x_ = nullptr, *y_ = nullptr;
};

} // namespace veneer
