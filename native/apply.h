// Carries out edits on rows of activations.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.h"

namespace veneer {

// Rows of one node that run under one edit: inputs (null for lookups), outputs, token ids (lookups).
struct Strip {
    std::vector<const float *> x;
    std::vector<float *> y;
    std::vector<int32_t> ids;
    int64_t n_out = 0;
    int64_t size() const { return int64_t(y.size()); }
};

// An edit with the rows that it runs on. `expert` is 0 where there are none.
struct Job {
    const Edit *edit;
    int64_t expert;
    Strip strip;
};

// What a thread keeps between edits.
struct Scratch {
    // Room for n rows of `width` numbers, and pointers to them.
    float *const *rows(int64_t n, int64_t width);
    std::vector<float> numbers;
    std::vector<float *> pointers;
    // The last A x that may be used again.
    struct {
        uint64_t share = 0, epoch = 0;
        const float *x = nullptr;
        int64_t n = 0;
    } kept;
    std::vector<float> kept_numbers;
    std::vector<float *> kept_pointers;
};

class Applier {
  public:
    explicit Applier(int n_threads);
    // The input is not the one of the edits before: nothing that was computed from it holds.
    void new_input() { epoch_++; }
    // Jobs of different outputs.
    void run(const std::vector<Job> &jobs);

  private:
    void run_alone(const Edit &edit, int64_t expert, const Strip &strip);
    void run_together(const std::vector<Job> &jobs);
    void run_rows(const Edit &edit, int64_t expert, const Strip &strip, int64_t from, int64_t to,
                  Scratch &scratch) const;
    void before_products(const Edit &edit, const Strip &strip);
    void after_products(const Edit &edit, const Strip &strip) const;
    void replace_few(const DenseRows &rows, const Strip &strip);
    int threads_for(const Edit &edit, int64_t n) const;

    int n_threads_;
    uint64_t epoch_ = 1;
    std::vector<Scratch> scratch_;
    std::vector<float> products_;
};

} // namespace veneer
