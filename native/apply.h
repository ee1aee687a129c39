// Carries out edits on rows of activations.
#pragma once

#include <cstdint>
#include <vector>

#include "meeting.h"
#include "plan.h"

namespace veneer {

// Rows of one node that run under one edit: inputs (null for lookups), outputs, token ids (lookups).
struct Strip {
    std::vector<const float *> x;
    std::vector<float *> y;
    std::vector<int32_t> ids;
    int64_t size() const { return int64_t(y.size()); }
};

// An edit with the rows that it runs on. `expert` is 0 where there are none.
struct Job {
    const Edit *edit = nullptr;
    int64_t expert = 0;
    Strip strip;
};

// A x of a job's term, for few rows, and where its numbers are among the work's. Not `fresh` where
// those are an earlier one's.
struct Product {
    const Job *job;
    const Term<LowRank> *term;
    int64_t u;
    bool fresh;
};

// Jobs of different outputs, and what threads need to do them together. What it has allocated is
// used again: a token has a hundred of these.
class Work {
  public:
    void clear() { count_ = 0; }
    // A job without rows yet.
    Job &add(const Edit *edit, int64_t expert);
    const Job *begin() const { return jobs_.data(); }
    const Job *end() const { return jobs_.data() + count_; }

    // Whether there are so few rows that threads share the factors, and otherwise the rows.
    bool few = false;
    // Whether threads must wait for each other.
    bool meets = false;
    uint64_t epoch = 0;
    std::vector<Product> products;
    std::vector<float> numbers;
    Meeting meeting;

  private:
    std::vector<Job> jobs_;
    size_t count_ = 0;
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

// The outputs that are a thread's part, where threads share outputs: whole panels.
struct Outputs {
    Outputs(int64_t n_out, int t, int threads);
    int64_t first_panel, from, to;
};

class Applier {
  public:
    explicit Applier(int n_threads);
    int n_threads() const { return n_threads_; }
    // The input is not the one of the edits before: nothing that was computed from it holds.
    void new_input() { epoch_++; }
    // Get the work ready, to which nothing is added any more.
    void prepare(Work &work);
    // Do all of it, on threads of our own where that pays.
    void run(Work &work);
    // Do a thread's part of it; each of `threads`, at most n_threads, must call.
    void share(Work &work, int t, int threads);

  private:
    void share_factors(Work &work, int t, int threads);
    void share_rows(const Work &work, int t, int threads);
    void run_rows(const Work &work, const Job &job, int64_t from, int64_t to,
                  Scratch &scratch) const;
    int threads_for(const Work &work) const;

    int n_threads_;
    uint64_t epoch_ = 1;
    std::vector<Scratch> scratch_;
};

} // namespace veneer
