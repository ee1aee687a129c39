#include "riders.h"

#include <algorithm>

namespace veneer {
namespace {

constexpr int32_t ALL_THREADS = -1;

bool is_plain(const Layout &layout, Node node) {
    return node.type() == layout.f32 && node.nb(0) == 4 && node.ne(2) * node.ne(3) == 1;
}

// The term that is not the product; none where the node is no sum of it.
Node other_term(Node node, Node product) {
    Node none(node.layout(), nullptr);
    if (node.src(0).tensor() == product.tensor()) return node.src(1);
    return node.src(1).tensor() == product.tensor() ? node.src(0) : none;
}

Sum sum_of(Node node) {
    // The second of the two may be one row for all.
    Node a = node.src(0), b = node.src(1);
    Sum sum;
    sum.out = node.data(), sum.a = a.data(), sum.b = b.data();
    sum.out_step = node.nb(1), sum.a_step = a.nb(1), sum.b_step = b.ne(1) == 1 ? 0 : b.nb(1);
    sum.rows = node.ne(1), sum.width = node.ne(0);
    return sum;
}

void add_rows(const Sum &sum, int64_t row, int64_t rows, int64_t from, int64_t to) {
    for (int64_t r = row; r < row + rows; r++) {
        auto *out = reinterpret_cast<float *>(sum.out + r * sum.out_step);
        auto *a = reinterpret_cast<const float *>(sum.a + r * sum.a_step);
        auto *b = reinterpret_cast<const float *>(sum.b + r * sum.b_step);
        for (int64_t o = from; o < to; o++) out[o] = a[o] + b[o];
    }
}

} // namespace

bool Riders::can_take(Node node, Node product) const {
    if (node.is_view()) return true;
    if (node.op() != layout_.add) return false;
    Node other = other_term(node, product);
    if (!other || other.tensor() == product.tensor()) return false;
    bool plain = is_plain(layout_, node) && is_plain(layout_, product) && is_plain(layout_, other);
    bool broadcast = other.ne(1) == 1 && other.tensor() == node.src(1).tensor();
    return plain && other.ne(0) == product.ne(0) && (other.ne(1) == product.ne(1) || broadcast);
}

Work &Riders::next() {
    if (count_ == riders_.size()) riders_.emplace_back();
    riders_[count_].work.clear();
    return riders_[count_].work;
}

void Riders::take(Node node) {
    Rider &rider = riders_[count_++];
    rider.applier = &applier_;
    rider.node = node.tensor();
    rider.op = node.op();
    rider.function = node.at<void *>(layout_.call_function);
    rider.tasks = node.at<int32_t>(layout_.call_tasks);
    rider.data = node.at<void *>(layout_.call_data);
    rider.sum = node.op() == layout_.add ? sum_of(node) : Sum();
    applier_.prepare(rider.work);
    node.put(layout_.op, layout_.call);
    node.put(layout_.call_function, &Riders::call);
    node.put(layout_.call_tasks, ALL_THREADS);
    node.put<void *>(layout_.call_data, &rider);
}

bool Riders::is_rider(Node node) const {
    return node.op() == layout_.call &&
           node.at<decltype(&Riders::call)>(layout_.call_function) == &Riders::call;
}

void Riders::restore(Node node) {
    if (!is_rider(node)) return;
    const auto &rider = *node.at<Rider *>(layout_.call_data);
    node.put(layout_.op, rider.op);
    node.put(layout_.call_function, rider.function);
    node.put(layout_.call_tasks, rider.tasks);
    node.put(layout_.call_data, rider.data);
}

void Riders::restore_all() {
    for (size_t i = 0; i < count_; i++) {
        // Where llama.cpp has made another graph, another node may lie there.
        Node node(layout_, riders_[i].node);
        if (is_rider(node) && node.at<Rider *>(layout_.call_data) == &riders_[i]) restore(node);
    }
    count_ = 0;
}

void Riders::call(void *, const void *, int t, int threads, void *data) {
    auto &rider = *static_cast<Rider *>(data);
    threads = std::min(threads, rider.applier->n_threads());
    if (t >= threads) return;
    rider.applier->share(rider.work, t, threads);
    if (rider.sum.rows) add(rider, t, threads);
}

void Riders::add(Rider &rider, int t, int threads) {
    const Sum &sum = rider.sum;
    // Outputs are shared like those of the edit, so that each thread adds what it has edited.
    if (rider.work.few) {
        Outputs part(sum.width, t, threads);
        return add_rows(sum, 0, sum.rows, part.from, part.to);
    }
    rider.work.meeting.wait(threads);
    int64_t from = sum.rows * t / threads, to = sum.rows * (t + 1) / threads;
    add_rows(sum, from, to - from, 0, sum.width);
}

} // namespace veneer
