#include "plan.h"

#include <set>
#include <stdexcept>
#include <utility>

namespace veneer {
namespace {

constexpr const char *ROLES[] = {"mul_mat", "get_rows", "mul", "add", "node"};
// ggml keeps 64 bytes for a name, one of them the end.
constexpr size_t LONGEST_NAME = 63;

// Sizes of which each must be the same wherever it is named.
void agree(int64_t &size, int64_t other, const char *what) {
    if (size >= 0 && size != other)
        throw std::invalid_argument(std::string("parts of an edit disagree about ") + what);
    size = other;
}

void agree_gain(Edit &edit, const Gain &gain) {
    if (!gain.each.empty()) agree(edit.n_out, int64_t(gain.each.size()), "n_out");
}

void take(Edit &edit, const Term<LowRank> &term) {
    agree(edit.n_in, term.factors->n_in, "n_in");
    agree(edit.n_out, term.factors->n_out, "n_out");
    agree(edit.n_expert, term.factors->n_expert, "experts");
    agree_gain(edit, term.gain);
}

// Rows of a weight are a product's outputs, and a lookup's inputs.
void take_rows(Edit &edit, int64_t n_rows, int64_t n_cols) {
    bool lookup = edit.role == Role::get_rows;
    agree(edit.n_out, lookup ? n_cols : n_rows, "n_out");
    agree(edit.n_in, lookup ? n_rows : n_cols, "n_in");
    agree(edit.n_expert, 0, "experts");
}

void check_role(const Edit &edit) {
    bool matrices = !edit.low_rank.empty() || !edit.sparse.empty() || edit.replace;
    if (edit.role > Role::get_rows && matrices)
        throw std::invalid_argument("mul, add and node take scale and bias only");
    if (edit.role != Role::mul_mat && edit.n_expert > 0)
        throw std::invalid_argument("experts exist only in the role mul_mat");
    if (edit.n_expert > 0 && !(edit.scale.empty() && edit.bias.empty()))
        throw std::invalid_argument("experts take low_rank only");
    if (!matrices && edit.scale.empty() && edit.bias.empty())
        throw std::invalid_argument("the edit does nothing");
}

} // namespace

Role role_named(const std::string &name) {
    for (int i = 0; i < 5; i++)
        if (name == ROLES[i]) return Role(i);
    throw std::invalid_argument("there is no role " + name);
}

const char *name_of(Role role) { return ROLES[int(role)]; }

void Edit::check() {
    if (name.empty() || name.size() > LONGEST_NAME || name.find('\0') != std::string::npos)
        throw std::invalid_argument("a name has 1 to 63 bytes");
    for (const auto &term : low_rank) take(*this, term);
    for (const auto &term : sparse) {
        take_rows(*this, term.factors->n_rows, term.factors->n_cols);
        agree_gain(*this, term.gain);
    }
    if (replace) take_rows(*this, replace->n_rows, replace->n_cols);
    if (!scale.empty()) agree(n_out, int64_t(scale.size()), "n_out");
    if (!bias.empty()) agree(n_out, int64_t(bias.size()), "n_out");
    check_role(*this);
}

void Plan::check() const {
    std::set<std::pair<Role, std::string>> places;
    for (const auto &edit : edits)
        if (!places.emplace(edit->role, edit->name).second)
            throw std::invalid_argument("two edits of " + edit->name);
}

size_t Plan::nbytes() const {
    std::set<const void *> counted;
    size_t total = 0;
    auto count = [&](const auto &factors) {
        if (factors && counted.insert(factors.get()).second) total += factors->nbytes();
    };
    for (const auto &edit : edits) {
        for (const auto &term : edit->low_rank) count(term.factors);
        for (const auto &term : edit->sparse) count(term.factors);
        count(edit->replace);
        total += (edit->scale.size() + edit->bias.size()) * sizeof(float);
    }
    return total;
}

} // namespace veneer
