#include "overlay.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace veneer {
namespace {

// Where a token's numbers lie: its row in dimensions 1 to 3.
int64_t offset_of(Node node, int64_t row) {
    int64_t i1 = row % node.ne(1), rest = row / node.ne(1);
    return i1 * node.nb(1) + rest % node.ne(2) * node.nb(2) + rest / node.ne(2) * node.nb(3);
}

[[noreturn]] void refuse(Node node, const std::string &why) {
    throw std::runtime_error(std::string(node.name()) + ": " + why);
}

} // namespace

Overlay::Overlay(const Layout &layout, int n_threads, bool copies, bool rides)
    : layout_(layout), reach_(layout_, copies), applier_(n_threads), riders_(layout_, applier_),
      rides_(rides && !copies) {}

void Overlay::publish(std::shared_ptr<const Plan> plan) {
    has_published_ = plan != nullptr;
    published_ = std::move(plan);
}

void Overlay::begin(std::vector<int32_t> tokens, Plans plans, std::vector<int32_t> rows) {
    if (plans.empty()) plans.push_back(published_);
    if (plans != active_) activate(std::move(plans));
    for (auto &counts : hits_) std::fill(counts.begin(), counts.end(), 0);
    batch_.begin(std::move(tokens), std::move(rows));
    riders_.restore_all();
    abandon();
    script_.rewind();
    input_ = nullptr;
    applier_.new_input();
    decoding_ = true;
}

void Overlay::activate(Plans plans) {
    active_ = std::move(plans);
    hits_.clear();
    std::vector<std::vector<int32_t>> places;
    for (const auto &plan : active_) {
        places.emplace_back();
        hits_.emplace_back(plan ? plan->edits.size() : 0);
        for (size_t e = 0; plan && e < plan->edits.size(); e++)
            places.back().push_back(places_.intern(plan->edits[e]->role, plan->edits[e]->name));
    }
    // A node that was no place may be one of the new ones.
    if (size_t(places_.count()) != targeted_.size()) script_.clear();
    edits_.assign(size_t(places_.count()) * active_.size(), -1);
    targeted_.assign(size_t(places_.count()), false);
    for (size_t p = 0; p < active_.size(); p++)
        for (size_t e = 0; e < places[p].size(); e++) {
            edits_[size_t(places[p][e]) * active_.size() + p] = int32_t(e);
            targeted_[size_t(places[p][e])] = true;
        }
}

std::string Overlay::finish() {
    riders_.restore_all();
    if (!waiting_.empty()) fail("the graph ended before a node that was to follow");
    if (decoding_ && batch_.mixed() && !batch_.complete())
        fail("llama.cpp did not decode every token of the batch");
    decoding_ = false;
    return std::exchange(error_, {});
}

std::vector<int64_t> Overlay::hits(const Plan *plan) const {
    std::vector<int64_t> total(plan->edits.size());
    for (size_t p = 0; p < active_.size(); p++)
        if (active_[p].get() == plan)
            for (size_t e = 0; e < total.size(); e++) total[e] += hits_[p][e];
    return total;
}

void Overlay::fail(const std::string &reason) {
    if (error_.empty()) error_ = reason;
}

bool Overlay::callback(void *tensor, bool ask, void *user_data) {
    auto &self = *static_cast<Overlay *>(user_data);
    Node node(self.layout_, tensor);
    // llama.cpp cannot pass an exception on, and going on is cheaper than stopping half-way.
    try {
        if (ask) return self.asked(node);
        self.computed(node);
    } catch (const std::exception &error) {
        self.fail(error.what());
        self.abandon();
    }
    return !ask;
}

bool Overlay::asked(Node node) {
    if (!decoding_) {
        if (has_published_) fail("a decode ran without begin");
        return false;
    }
    if (edits_.empty()) return false;
    riders_.restore(node);
    if (batch_.mixed() && node.op() == layout_.get_rows) watch_rows(node);
    current_ = {node.tensor(), place_of(node)};
    return wants(node, current_.place);
}

void Overlay::watch_rows(Node node) {
    Node from = node.src(0), ids = node.src(1);
    bool given = ids.op() == 0 && ids.type() == layout_.i32 && ids.rows() == 1;
    if (!given) return;
    if (std::strcmp(from.name(), "token_embd.weight") == 0) {
        if (!batch_.embed(reach_.integers(ids)))
            refuse(node, "llama.cpp did not keep the order of the batch");
    } else if (from.op() != 0 && from.rows() == batch_.ubatch_size()) {
        if (!batch_.select(reach_.integers(ids)))
            refuse(node, "llama.cpp picked outputs in another order than the batch's");
    }
}

int32_t Overlay::place_of(Node node) {
    int32_t place = script_.step(node);
    if (place == Script::UNKNOWN) {
        place = search(node);
        script_.note(node, place);
    }
    // A node's own name is not among what the script knows it by.
    return place < 0 && places_.has(Role::node) ? places_.of_node(node) : place;
}

int32_t Overlay::search(Node node) {
    int32_t op = node.op();
    if (op == layout_.mul_mat || op == layout_.mul_mat_id)
        return places_.of_weight(Role::mul_mat, node.src(0));
    if (op == layout_.get_rows) return places_.of_weight(Role::get_rows, node.src(0));
    if (op == layout_.mul) return place_of_either(Role::mul, node);
    if (op == layout_.add) return place_of_either(Role::add, node);
    return -1;
}

int32_t Overlay::place_of_either(Role role, Node node) {
    if (!places_.has(role)) return -1;
    int32_t place = places_.of_weight(role, node.src(1));
    return place < 0 ? places_.of_weight(role, node.src(0)) : place;
}

bool Overlay::targeted(int32_t place) const { return place >= 0 && targeted_[size_t(place)]; }

bool Overlay::wants(Node node, int32_t place) {
    if (awaited_) arrive(node);
    if (awaited_ || !targeted(place)) return false;
    if (node.op() == layout_.mul_mat) awaited_ = meeting_place(node);
    if (awaited_) waiting_.push_back({node.tensor(), place});
    return !awaited_;
}

// If it is not the awaited node that comes, what waits may be read next, unedited.
void Overlay::arrive(Node node) {
    bool came = node.tensor() == awaited_;
    if (!came && node.is_view()) return;
    awaited_ = nullptr;
    if (!came) refuse(node, "came where another node was computed before");
    if (node.op() != layout_.mul_mat) ride(node);
}

// The node at which the product can be edited without a stop of its own: the next product of its
// input, or else a rider; null where the graph is not known to go on that way.
void *Overlay::meeting_place(Node product) {
    void *rider = nullptr;
    for (size_t ahead = 0; const Script::Line *line = script_.ahead(ahead); ahead++) {
        Node next(layout_, line->tensor);
        riders_.restore(next);
        if (!line->is(next)) break;
        bool edited = targeted(line->place) ||
                      (places_.has(Role::node) && targeted(places_.of_node(next)));
        bool sibling = next.op() == layout_.mul_mat &&
                       next.src(1).tensor() == product.src(1).tensor();
        if (edited) return sibling ? next.tensor() : rider;
        if (!rider && can_ride(product) && riders_.can_take(next, product)) rider = next.tensor();
        if (!next.is_view()) break;
    }
    return rider;
}

bool Overlay::can_ride(Node product) const {
    return rides_ && reach_.here(product) && reach_.here(product.src(1));
}

void Overlay::ride(Node node) {
    Work &work = riders_.next();
    for (const Wanted &wanted : waiting_) edit(wanted, work);
    waiting_.clear();
    riders_.take(node);
}

void Overlay::computed(Node node) {
    riders_.restore_all();
    for (const Wanted &wanted : waiting_) edit(wanted, work_);
    waiting_.clear();
    if (node.tensor() != current_.tensor) refuse(node, "was computed, but not the last asked for");
    edit(current_, work_);
    finish_work(work_);
}

void Overlay::abandon() {
    waiting_.clear();
    work_.clear();
    awaited_ = nullptr;
}

void Overlay::edit(Wanted wanted, Work &work) {
    Node node(layout_, wanted.tensor);
    if (!targeted(wanted.place) || node.ne(0) * node.rows() == 0) return;
    int64_t n = node.op() == layout_.mul_mat_id ? node.ne(2) : node.rows();
    const std::vector<Group> *groups = batch_.groups(n);
    if (!groups) refuse(node, "nothing says which rows of the batch these are");
    note_input(wanted, node);
    y_ = reach_.open(node, 0);
    for (const Group &group : *groups) edit_group(node, wanted.place, group, n, work);
    // A copy is brought home before the next one takes its place.
    bool copied = !reach_.here(node) || !reach_.here(node.src(1));
    if (copied) finish_work(work);
    reach_.close(node, 0);
}

void Overlay::finish_work(Work &work) {
    applier_.run(work);
    work.clear();
}

// Products of an input may be shared until another input comes, or the same place comes again
// (another ubatch).
void Overlay::note_input(const Wanted &wanted, Node node) {
    void *input = node.src(1).tensor();
    bool again = std::find(same_input_.begin(), same_input_.end(), wanted.place) !=
                 same_input_.end();
    if (input != input_ || again) {
        applier_.new_input();
        same_input_.clear();
        input_ = input;
    }
    same_input_.push_back(wanted.place);
}

void Overlay::edit_group(Node node, int32_t place, const Group &group, int64_t n, Work &work) {
    size_t p = size_t(group.plan);
    int32_t e = edits_[size_t(place) * active_.size() + p];
    if (e < 0) return;
    const Edit &edit = *active_[p]->edits[size_t(e)];
    check(node, edit);
    if (node.op() == layout_.mul_mat_id) {
        edit_experts(node, edit, group, work);
    } else {
        bool product = edit.role == Role::mul_mat;
        collect(node, group, n, product && edit.n_in > 0, work.add(&edit, 0).strip);
    }
    hits_[p][size_t(e)]++;
}

void Overlay::check(Node node, const Edit &edit) const {
    if (node.type() != layout_.f32 || node.nb(0) != 4) refuse(node, "is not F32 by rows");
    if (edit.n_out >= 0 && node.ne(0) != edit.n_out) refuse(node, "has another size than its edit");
    bool experts = node.op() == layout_.mul_mat_id;
    if (edit.role == Role::mul_mat && experts != (edit.n_expert > 0))
        refuse(node, experts ? "has experts, its edit none" : "has no experts, its edit some");
    if (edit.role == Role::mul_mat && (edit.n_in >= 0 || experts)) {
        Node x = node.src(1), w = node.src(0);
        if (x.type() != layout_.f32 || x.nb(0) != 4) refuse(node, "has an input that is not F32");
        if (x.ne(0) != edit.n_in) refuse(node, "has another input size than its edit");
        if (w.ne(2) * w.ne(3) != std::max<int64_t>(edit.n_expert, 1))
            refuse(node, "has another number of matrices than its edit");
    }
    if (edit.role == Role::get_rows && edit.n_in >= 0 && node.src(0).ne(1) != edit.n_in)
        refuse(node, "has another vocabulary than its edit");
}

// The rows of a group: outputs, and inputs or token ids.
void Overlay::collect(Node node, const Group &group, int64_t n, bool with_input, Strip &strip) {
    int64_t count = group.rows.empty() ? n : int64_t(group.rows.size());
    Node x = node.src(1);
    if (with_input) x_ = reach_.open(x, 1);
    std::vector<int32_t> ids;
    if (node.op() == layout_.get_rows) ids = reach_.integers(x);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = group.rows.empty() ? i : group.rows[size_t(i)];
        strip.y.push_back(reinterpret_cast<float *>(y_ + offset_of(node, row)));
        if (with_input)
            strip.x.push_back(reinterpret_cast<const float *>(x_ + offset_of(x, row)));
        if (!ids.empty()) {
            int32_t id = ids.at(size_t(row));
            if (id < 0 || id >= node.src(0).ne(1)) refuse(node, "looks up a token there is not");
            strip.ids.push_back(id);
        }
    }
}

// MUL_MAT_ID: for each token, as many experts as `ids` names; rows of one expert run together.
void Overlay::edit_experts(Node node, const Edit &edit, const Group &group, Work &work) {
    Node x = node.src(1);
    int64_t used = node.ne(1), tokens = node.ne(2);
    std::vector<int32_t> ids = reach_.integers(node.src(2));
    x_ = reach_.open(x, 1);
    std::vector<Strip> strips(size_t(edit.n_expert));
    int64_t count = group.rows.empty() ? tokens : int64_t(group.rows.size());
    for (int64_t i = 0; i < count; i++) {
        int64_t token = group.rows.empty() ? i : group.rows[size_t(i)];
        for (int64_t slot = 0; slot < used; slot++) {
            Strip &strip = strips.at(size_t(ids.at(size_t(token * used + slot))));
            int64_t in = slot % x.ne(1) * x.nb(1) + token % x.ne(2) * x.nb(2);
            strip.x.push_back(reinterpret_cast<const float *>(x_ + in));
            strip.y.push_back(
                reinterpret_cast<float *>(y_ + slot * node.nb(1) + token * node.nb(2)));
        }
    }
    for (size_t expert = 0; expert < strips.size(); expert++)
        if (strips[expert].size())
            work.add(&edit, int64_t(expert)).strip = std::move(strips[expert]);
}

} // namespace veneer
