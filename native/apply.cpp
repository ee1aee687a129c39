#include "apply.h"

#include <algorithm>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace veneer {
namespace {

// Rows of which A x is kept in the nearest cache until B takes it.
constexpr int64_t BLOCK = 48;
// Replaced rows that are computed before they are put down.
constexpr int64_t PART = 1024;
// Rows up to which factors are read from memory for little work: then threads share the factors.
constexpr int64_t FEW = 8;
// Bytes of factors below which one thread has read them before another is awake.
constexpr size_t WORTH_SHARING = 48 << 10;
// Multiplications below which waking other threads costs more than it saves.
constexpr int64_t WORTH_THREADS = 400'000;

// Multiplications for a row.
int64_t cost(const Edit &edit) {
    int64_t total = 0;
    for (const auto &term : edit.low_rank)
        total += term.factors->rank * (term.factors->n_in + term.factors->n_out);
    if (edit.replace && edit.role == Role::mul_mat)
        total += edit.replace->n_replaced * edit.replace->n_cols;
    return total;
}

// In parts, so that what is computed stays in the nearest cache until it is put down.
void replace_products(const DenseRows &rows, int64_t from, int64_t to, const float *const *x,
                      int64_t n, float *const *y, Scratch &scratch) {
    for (int64_t k0 = from; k0 < to; k0 += PART) {
        int64_t k1 = std::min(to, k0 + PART);
        float *const *out = scratch.rows(n, k1 - k0);
        kernels().dots(rows.type(), rows.values(k0), k1 - k0, rows.n_cols, x, n, out);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = k0; k < k1; k++) y[i][rows.row(k)] = out[i][k - k0];
    }
}

void replace_lookups(const DenseRows &rows, const int32_t *ids, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++) {
        int64_t k = rows.find(ids[i]);
        if (k >= 0) kernels().widen(rows.type(), rows.values(k), rows.n_cols, y[i]);
    }
}

void scale_rows(const std::vector<float> &scale, int64_t n, float *const *y, int64_t from,
                int64_t to) {
    if (scale.empty()) return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = from; o < to; o++) y[i][o] *= scale[size_t(o)];
}

void add_bias(const std::vector<float> &bias, int64_t n, float *const *y, int64_t from,
              int64_t to) {
    if (bias.empty()) return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = from; o < to; o++) y[i][o] += bias[size_t(o)];
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
                     float *const *y, int64_t from, int64_t to) {
    const auto &filled = term.factors->filled();
    auto first = std::lower_bound(filled.begin(), filled.end(), from);
    for (int64_t i = 0; i < n; i++)
        for (auto row = first; row != filled.end() && *row < to; row++)
            y[i][*row] += term.gain.at(*row) * term.factors->dot(*row, x[i]);
}

void sparse_lookups(const Term<SparseRows> &term, const int32_t *ids, int64_t n, float *const *y) {
    for (int64_t i = 0; i < n; i++)
        term.factors->add_row(ids[i], term.gain.all, term.gain.data(), y[i]);
}

bool has_few_rows(const Job &job) {
    return job.edit->role == Role::mul_mat && job.strip.size() <= FEW;
}

void share_of_replaced(const Job &job, int t, int threads, Scratch &scratch) {
    const DenseRows &rows = *job.edit->replace;
    int64_t total = rows.n_replaced;
    replace_products(rows, total * t / threads, total * (t + 1) / threads, job.strip.x.data(),
                     job.strip.size(), job.strip.y.data(), scratch);
}

void share_of_scale(const Job &job, int t, int threads) {
    Outputs part(job.edit->n_out, t, threads);
    scale_rows(job.edit->scale, job.strip.size(), job.strip.y.data(), part.from, part.to);
}

// What comes after the low-rank products.
void share_of_the_rest(const Job &job, int t, int threads) {
    const Strip &strip = job.strip;
    Outputs part(job.edit->n_out, t, threads);
    for (const auto &term : job.edit->sparse)
        sparse_products(term, strip.x.data(), strip.size(), strip.y.data(), part.from, part.to);
    add_bias(job.edit->bias, strip.size(), strip.y.data(), part.from, part.to);
}

// Ask for bytes that are read soon. They come from memory all at once, not one row after another.
void fetch(const void *from, const void *to) {
#ifdef __GNUC__
    for (auto *p = static_cast<const char *>(from); p < to; p += 64) __builtin_prefetch(p);
#endif
}

void fetch_share_of_a(const Product &product, int t, int threads) {
    const LowRank &f = *product.term->factors;
    int64_t expert = product.job->expert;
    fetch(f.a(expert, f.rank * t / threads), f.a(expert, f.rank * (t + 1) / threads));
}

void fetch_share_of_b(const Product &product, int t, int threads) {
    const LowRank &f = *product.term->factors;
    int64_t expert = product.job->expert;
    fetch(f.b(expert, f.panels() * t / threads), f.b(expert, f.panels() * (t + 1) / threads));
}

// A thread's part of A x: some of the rows of A.
void share_of_dots(const Product &product, float *u, int t, int threads) {
    const LowRank &f = *product.term->factors;
    const Strip &strip = product.job->strip;
    int64_t from = f.rank * t / threads, to = f.rank * (t + 1) / threads;
    float *rows[FEW];
    for (int64_t i = 0; i < strip.size(); i++) rows[i] = u + i * f.rank + from;
    kernels().dots(f.a_type(), f.a(product.job->expert, from), to - from, f.n_in, strip.x.data(),
                   strip.size(), rows);
}

// A thread's part of adding B u: some of the outputs.
void share_of_outputs(const Product &product, const float *u, int t, int threads) {
    const LowRank &f = *product.term->factors;
    const Strip &strip = product.job->strip;
    const Gain &gain = product.term->gain;
    Outputs part(f.n_out, t, threads);
    if (part.from >= part.to) return;
    const float *in[FEW];
    float *out[FEW];
    for (int64_t i = 0; i < strip.size(); i++) {
        in[i] = u + i * f.rank;
        out[i] = strip.y[size_t(i)] + part.from;
    }
    kernels().add_panels(f.b_type(), f.b(product.job->expert, part.first_panel),
                         part.to - part.from, f.rank, in, strip.size(), gain.all,
                         gain.data() ? gain.data() + part.from : nullptr, out);
}

// Gives where the next one's numbers begin.
int64_t add_product(Work &work, Product product) {
    const Job &job = *product.job;
    const LowRank &f = *product.term->factors;
    for (const Product &other : work.products) {
        bool same = f.share && f.share == other.term->factors->share && f.n_expert == 0 &&
                    job.strip.x == other.job->strip.x;
        if (!same) continue;
        work.products.push_back({&job, product.term, other.u, false});
        return product.u;
    }
    work.products.push_back(product);
    return product.u + job.strip.size() * f.rank;
}

// Calls part(t, threads) on each of the threads, which may be fewer than were asked for. Alone,
// nothing is asked of OpenMP: even a region of one thread costs microseconds, since it drops the
// team that llama.cpp's next region would have had.
template <class Part> void on_threads(int threads, const Part &part) {
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        part(omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#endif
    part(0, 1);
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

Job &Work::add(const Edit *edit, int64_t expert) {
    if (count_ == jobs_.size()) jobs_.emplace_back();
    Job &job = jobs_[count_++];
    job.edit = edit;
    job.expert = expert;
    job.strip.x.clear(), job.strip.y.clear(), job.strip.ids.clear();
    return job;
}

Outputs::Outputs(int64_t n_out, int t, int threads) {
    int64_t panels = (n_out + PANEL - 1) / PANEL;
    first_panel = panels * t / threads;
    from = first_panel * PANEL;
    to = std::min(n_out, panels * (t + 1) / threads * PANEL);
}

void Applier::prepare(Work &work) {
    work.epoch = epoch_;
    work.few = std::all_of(work.begin(), work.end(), has_few_rows);
    work.meets = false;
    work.products.clear();
    if (!work.few) return;
    int64_t count = 0;
    for (const Job &job : work) {
        work.meets = work.meets || job.edit->replace || !job.edit->low_rank.empty();
        for (const auto &term : job.edit->low_rank)
            count = add_product(work, {&job, &term, count, true});
    }
    if (work.numbers.size() < size_t(count)) work.numbers.resize(size_t(count));
}

int Applier::threads_for(const Work &work) const {
    size_t bytes = 0;
    int64_t multiplications = 0, rows = 0;
    for (const Job &job : work) {
        for (const auto &term : job.edit->low_rank) bytes += term.factors->nbytes_read();
        multiplications += job.strip.size() * cost(*job.edit);
        rows += job.strip.size();
    }
    bool worth = multiplications >= WORTH_THREADS && (work.few || rows >= 2 * n_threads_);
    return worth || (work.few && bytes >= WORTH_SHARING) ? n_threads_ : 1;
}

void Applier::run(Work &work) {
    prepare(work);
    on_threads(threads_for(work), [&](int t, int threads) { share(work, t, threads); });
}

void Applier::share(Work &work, int t, int threads) {
    if (work.few) share_factors(work, t, threads);
    else share_rows(work, t, threads);
}

// Few rows (a token): each thread reads its part of every A, then its part of every B.
void Applier::share_factors(Work &work, int t, int threads) {
    float *u = work.numbers.data();
    for (const Job &job : work)
        if (job.edit->replace) share_of_replaced(job, t, threads, scratch_[size_t(t)]);
    for (const Product &product : work.products)
        if (product.fresh) fetch_share_of_a(product, t, threads);
    for (const Product &product : work.products) {
        fetch_share_of_b(product, t, threads);
        if (product.fresh) share_of_dots(product, u + product.u, t, threads);
    }
    if (work.meets) work.meeting.wait(threads);
    for (const Job &job : work) share_of_scale(job, t, threads);
    for (const Product &product : work.products)
        share_of_outputs(product, u + product.u, t, threads);
    for (const Job &job : work) share_of_the_rest(job, t, threads);
}

// Many rows (a prompt): each thread does its part of the rows.
void Applier::share_rows(const Work &work, int t, int threads) {
    for (const Job &job : work) {
        int64_t n = job.strip.size();
        run_rows(work, job, n * t / threads, n * (t + 1) / threads, scratch_[size_t(t)]);
    }
}

void Applier::run_rows(const Work &work, const Job &job, int64_t from, int64_t to,
                       Scratch &scratch) const {
    const Edit &edit = *job.edit;
    const Strip &strip = job.strip;
    int64_t n = to - from;
    if (n <= 0) return;
    float *const *y = strip.y.data() + from;
    bool lookup = edit.role == Role::get_rows;
    const float *const *x = strip.x.empty() ? nullptr : strip.x.data() + from;
    const int32_t *ids = strip.ids.empty() ? nullptr : strip.ids.data() + from;
    if (edit.replace && lookup) replace_lookups(*edit.replace, ids, n, y);
    if (edit.replace && !lookup)
        replace_products(*edit.replace, 0, edit.replace->n_replaced, x, n, y, scratch);
    scale_rows(edit.scale, n, y, 0, edit.n_out);
    for (const auto &term : edit.low_rank) {
        if (lookup) low_rank_lookups(term, ids, n, y, scratch);
        else low_rank_products(term, job.expert, x, n, y, work.epoch, scratch);
    }
    for (const auto &term : edit.sparse) {
        if (lookup) sparse_lookups(term, ids, n, y);
        else sparse_products(term, x, n, y, 0, edit.n_out);
    }
    add_bias(edit.bias, n, y, 0, edit.n_out);
}

} // namespace veneer
