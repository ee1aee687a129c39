// A composition as the overlay runs it: one edit per place in the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "factors.h"

namespace veneer {

enum class Role : uint8_t { mul_mat, get_rows, mul, add, node };

// Raises std::invalid_argument for a word that is none.
Role role_named(const std::string &name);
const char *name_of(Role role);

// A number for every output, or one for each.
struct Gain {
    float all = 1;
    std::vector<float> each;
    const float *data() const { return each.empty() ? nullptr : each.data(); }
    float at(int64_t o) const { return each.empty() ? all : each[size_t(o)]; }
};

template <class T> struct Term {
    std::shared_ptr<const T> factors;
    Gain gain;
};

// y = scale ∘ replace(y) + Σ gain ∘ B (A x) + Σ gain ∘ (S x) + bias
struct Edit {
    Role role = Role::mul_mat;
    std::string name;
    std::vector<Term<LowRank>> low_rank;
    std::vector<Term<SparseRows>> sparse;
    std::shared_ptr<const DenseRows> replace;
    std::vector<float> scale, bias;
    // Sizes that the node must have; -1 where nothing says.
    int64_t n_in = -1, n_out = -1, n_expert = -1;

    // Fill the sizes. Raises std::invalid_argument where the parts disagree or there are none.
    void check();
};

struct Plan {
    std::vector<std::shared_ptr<const Edit>> edits;

    // Raises std::invalid_argument for two edits of one place.
    void check() const;
    size_t nbytes() const;
};

} // namespace veneer
