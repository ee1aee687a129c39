#include "rows.h"

#include <algorithm>
#include <numeric>

namespace veneer {

void Batch::begin(std::vector<int32_t> tokens, std::vector<int32_t> plans) {
    tokens_ = std::move(tokens);
    plans_ = std::move(plans);
    int32_t only = plans_.empty() ? 0 : plans_[0];
    mixed_ = std::any_of(plans_.begin(), plans_.end(), [&](int32_t p) { return p != only; });
    first_ = size_ = 0;
    selected_ = false;
    everything_ = {{only, {}}};
    whole_.clear();
}

bool Batch::embed(const std::vector<int32_t> &ids) {
    first_ += size_;
    size_ = int64_t(ids.size());
    selected_ = false;
    if (first_ + size_ > int64_t(tokens_.size())) return false;
    if (!std::equal(ids.begin(), ids.end(), tokens_.begin() + first_)) return false;
    std::vector<int32_t> all(ids.size());
    std::iota(all.begin(), all.end(), 0);
    whole_ = grouped(all);
    return true;
}

bool Batch::select(const std::vector<int32_t> &ids) {
    for (size_t i = 0; i < ids.size(); i++)
        if (ids[i] < 0 || ids[i] >= size_ || (i && ids[i - 1] >= ids[i])) return false;
    selected_ = true;
    n_picked_ = int64_t(ids.size());
    picked_ = grouped(ids);
    return true;
}

std::vector<Group> Batch::grouped(const std::vector<int32_t> &picked) const {
    std::vector<Group> groups;
    for (size_t i = 0; i < picked.size(); i++) {
        int32_t plan = plans_[size_t(first_ + picked[i])];
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group &g) { return g.plan == plan; });
        if (group == groups.end()) group = groups.insert(groups.end(), {plan, {}});
        group->rows.push_back(int32_t(i));
    }
    return groups;
}

const std::vector<Group> *Batch::groups(int64_t n) {
    if (!mixed_) return &everything_;
    // Picking all rows keeps their order, so that both answers are then the same.
    if (n == size_ && !whole_.empty()) return &whole_;
    if (selected_ && n == n_picked_) return &picked_;
    return nullptr;
}

} // namespace veneer
