#include "apply.h"

#include <algorithm>

namespace veneer {
namespace {

// Rows of which A x is kept in the nearest cache until B takes it.
constexpr int64_t BLOCK = 48;
// Rows up to which factors are read from memory for little work: then threads share the factors.
constexpr int64_t FEW = 8;
// Bytes of factors below which one thread has read them before another is awake.
constexpr size_t WORTH_SHARING = 48 << 10;
// Multiplications below which waking other threads costs more than it saves.
constexpr int64_t WORTH_THREADS = 400'000;

int64_t work(const Edit &edit) {
    int64_t total = 0;
    for (const auto &term : edit.low_rank)
        total += term.factors->rank * (term.factors->n_in + term.factors->n_out);
    if (edit.replace && edit.role == Role::mul_mat)
        total += edit.replace->n_replaced * edit.replace->n_cols;
    return total;
}

void replace_products(const DenseRows &rows, int64_t k0, int64_t k1, const float *const *x,
                      int64_t n, float *const *y, Scratch &scratch) {
    const void *values = rows.values(k0);
    float *const *out = scratch.rows(n, k1 - k0);
    kernels().dots(rows.type(), values, k1 - k0, rows.n_cols, x, n, out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = k0; k < k1; k++) y[i][rows.row(k)] = out[i][k - k0];
}

void replace_lookups(const DenseRows &rows, const int32_t *ids, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++) {
        int64_t k = rows.find(ids[i]);
        if (k >= 0) kernels().widen(rows.type(), rows.values(k), rows.n_cols, y[i]);
    }
}

void scale_rows(const std::vector<float> &scale, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++)
        for (size_t o = 0; o < scale.size(); o++) y[i][o] *= scale[o];
}

void add_bias(const std::vector<float> &bias, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++)
        for (size_t o = 0; o < bias.size(); o++) y[i][o] += bias[o];
}

void add_low_rank(const Term<LowRank> &term, int64_t expert, float *const *u, int64_t n,
                  float *const *y) {
    const LowRank &f = *term.factors;
    kernels().add_panels(f.b_type(), f.b(expert), f.n_out, f.rank, u, n, term.gain.all,
                         term.gain.data(), y);
}

// A x of all rows, from the edit before if it had the same A and the same rows.
float *const *shared_product(const LowRank &f, const float *const *x, int64_t n, uint64_t epoch,
                             Scratch &s) {
    if (s.kept.share == f.share && s.kept.epoch == epoch && s.kept.x == x[0] && s.kept.n == n)
        return s.kept_pointers.data();
    s.kept_numbers.resize(size_t(n * f.rank));
    s.kept_pointers.resize(size_t(n));
    for (int64_t i = 0; i < n; i++) s.kept_pointers[size_t(i)] = s.kept_numbers.data() + i * f.rank;
    kernels().dots(f.a_type(), f.a(0), f.rank, f.n_in, x, n, s.kept_pointers.data());
    s.kept = {f.share, epoch, x[0], n};
    return s.kept_pointers.data();
}

void low_rank_products(const Term<LowRank> &term, int64_t expert, const float *const *x, int64_t n,
                       float *const *y, uint64_t epoch, Scratch &scratch) {
    const LowRank &f = *term.factors;
    if (f.share && f.n_expert == 0)
        return add_low_rank(term, 0, shared_product(f, x, n, epoch, scratch), n, y);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = std::min(BLOCK, n - i);
        float *const *u = scratch.rows(m, f.rank);
        kernels().dots(f.a_type(), f.a(expert), f.rank, f.n_in, x + i, m, u);
        add_low_rank(term, expert, u, m, y + i);
    }
}

void low_rank_lookups(const Term<LowRank> &term, const int32_t *ids, int64_t n, float *const *y,
                      Scratch &scratch) {
    float *const *u = scratch.rows(n, term.factors->rank);
    for (int64_t i = 0; i < n; i++) term.factors->column(ids[i], u[i]);
    add_low_rank(term, 0, u, n, y);
}

void sparse_products(const Term<SparseRows> &term, const float *const *x, int64_t n,
                     float *const *y) {
    for (int64_t i = 0; i < n; i++)
        for (int32_t row : term.factors->filled())
            y[i][row] += term.gain.at(row) * term.factors->dot(row, x[i]);
}

void sparse_lookups(const Term<SparseRows> &term, const int32_t *ids, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++)
        term.factors->add_row(ids[i], term.gain.all, term.gain.data(), y[i]);
}

bool can_share(const Job &job) {
    return job.edit->role == Role::mul_mat && job.strip.size() <= FEW;
}

size_t bytes_read(const std::vector<Job> &jobs) {
    size_t total = 0;
    for (const Job &job : jobs)
        for (const auto &term : job.edit->low_rank) total += term.factors->nbytes_read();
    return total;
}

// A thread's part of A x: some of the rows of A.
void share_of_dots(const Job &job, const Term<LowRank> &term, float *u, int t, int threads) {
    const LowRank &f = *term.factors;
    int64_t from = f.rank * t / threads, to = f.rank * (t + 1) / threads;
    float *rows[FEW];
    for (int64_t i = 0; i < job.strip.size(); i++) rows[i] = u + i * f.rank + from;
    kernels().dots(f.a_type(), f.a(job.expert, from), to - from, f.n_in, job.strip.x.data(),
                   job.strip.size(), rows);
}

// A thread's part of adding B u: some of the outputs.
void share_of_outputs(const Job &job, const Term<LowRank> &term, const float *u, int t,
                      int threads) {
    const LowRank &f = *term.factors;
    int64_t from = f.panels() * t / threads, to = f.panels() * (t + 1) / threads;
    int64_t o = from * PANEL, end = std::min(f.n_out, to * PANEL);
    const float *in[FEW];
    float *out[FEW];
    for (int64_t i = 0; i < job.strip.size(); i++) {
        in[i] = u + i * f.rank;
        out[i] = job.strip.y[size_t(i)] + o;
    }
    const float *gains = term.gain.data() ? term.gain.data() + o : nullptr;
    if (o < end)
        kernels().add_panels(f.b_type(), f.b(job.expert, from), end - o, f.rank, in,
                             job.strip.size(), term.gain.all, gains, out);
}

// Calls work(t) for each of the threads. Alone, nothing is asked of OpenMP: even a region of one
// thread costs microseconds, since it drops the team that llama.cpp's next region would have had.
template <class Work> void on_threads(int threads, const Work &work) {
    if (threads == 1) return work(0);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int t = 0; t < threads; t++) work(t);
}

} // namespace

float *const *Scratch::rows(int64_t n, int64_t width) {
    if (numbers.size() < size_t(n * width)) numbers.resize(size_t(n * width));
    if (pointers.size() < size_t(n)) pointers.resize(size_t(n));
    for (int64_t i = 0; i < n; i++) pointers[size_t(i)] = numbers.data() + i * width;
    return pointers.data();
}

Applier::Applier(int n_threads)
    : n_threads_(std::max(1, n_threads)), scratch_(size_t(std::max(1, n_threads))) {}

int Applier::threads_for(const Edit &edit, int64_t n) const {
    return n >= 2 * n_threads_ && n * work(edit) >= WORTH_THREADS ? n_threads_ : 1;
}

// Few rows against many replaced ones (a head): threads share the replaced rows.
void Applier::replace_few(const DenseRows &rows, const Strip &strip) {
    int64_t total = rows.n_replaced;
    int threads = total * rows.n_cols * strip.size() >= WORTH_THREADS ? n_threads_ : 1;
    on_threads(threads, [&](int t) {
        int64_t from = total * t / threads, to = total * (t + 1) / threads;
        // In parts, so that what is computed stays in the nearest cache until it is put down.
        for (int64_t k = from; k < to; k += 1024)
            replace_products(rows, k, std::min(to, k + 1024), strip.x.data(), strip.size(),
                             strip.y.data(), scratch_[size_t(t)]);
    });
}

void Applier::run(const std::vector<Job> &jobs) {
    bool together = n_threads_ > 1 && bytes_read(jobs) >= WORTH_SHARING &&
                    std::all_of(jobs.begin(), jobs.end(), can_share);
    if (together) return run_together(jobs);
    for (const Job &job : jobs) run_alone(*job.edit, job.expert, job.strip);
}

// Few rows (a token): all threads read the factors, first every A, then every B.
void Applier::run_together(const std::vector<Job> &jobs) {
    size_t count = 0;
    for (const Job &job : jobs) {
        before_products(*job.edit, job.strip);
        for (const auto &term : job.edit->low_rank)
            count += size_t(job.strip.size() * term.factors->rank);
    }
    if (products_.size() < count) products_.resize(count);
    auto each = [&](auto share, int t) {
        float *u = products_.data();
        for (const Job &job : jobs)
            for (const auto &term : job.edit->low_rank) {
                share(job, term, u, t, n_threads_);
                u += job.strip.size() * term.factors->rank;
            }
    };
#pragma omp parallel num_threads(n_threads_)
    {
#pragma omp for schedule(static)
        for (int t = 0; t < n_threads_; t++) each(share_of_dots, t);
#pragma omp for schedule(static)
        for (int t = 0; t < n_threads_; t++) each(share_of_outputs, t);
    }
    for (const Job &job : jobs) after_products(*job.edit, job.strip);
}

// What comes before the low-rank products where threads share the replaced rows.
void Applier::before_products(const Edit &edit, const Strip &strip) {
    if (edit.replace) replace_few(*edit.replace, strip);
    scale_rows(edit.scale, strip.size(), strip.y.data());
}

void Applier::after_products(const Edit &edit, const Strip &strip) const {
    for (const auto &term : edit.sparse)
        sparse_products(term, strip.x.data(), strip.size(), strip.y.data());
    add_bias(edit.bias, strip.size(), strip.y.data());
}

void Applier::run_alone(const Edit &edit, int64_t expert, const Strip &strip) {
    int64_t n = strip.size();
    if (edit.replace && edit.role == Role::mul_mat) replace_few(*edit.replace, strip);
    int threads = threads_for(edit, n);
    on_threads(threads, [&](int t) {
        run_rows(edit, expert, strip, n * t / threads, n * (t + 1) / threads, scratch_[size_t(t)]);
    });
}

void Applier::run_rows(const Edit &edit, int64_t expert, const Strip &strip, int64_t from,
                       int64_t to, Scratch &scratch) const {
    int64_t n = to - from;
    if (n <= 0) return;
    float *const *y = strip.y.data() + from;
    bool lookup = edit.role == Role::get_rows;
    const float *const *x = strip.x.empty() ? nullptr : strip.x.data() + from;
    const int32_t *ids = strip.ids.empty() ? nullptr : strip.ids.data() + from;
    if (edit.replace && lookup) replace_lookups(*edit.replace, ids, n, y);
    scale_rows(edit.scale, n, y);
    for (const auto &term : edit.low_rank) {
        if (lookup) low_rank_lookups(term, ids, n, y, scratch);
        else low_rank_products(term, expert, x, n, y, epoch_, scratch);
    }
    for (const auto &term : edit.sparse) {
        if (lookup) sparse_lookups(term, ids, n, y);
        else sparse_products(term, x, n, y);
    }
    add_bias(edit.bias, n, y);
}

} // namespace veneer
