#include "places.h"

namespace veneer {
namespace {

std::string key_of(Role role, const char *name) { return char('0' + int(role)) + std::string(name); }

} // namespace

int32_t Places::intern(Role role, const std::string &name) {
    auto [entry, added] = numbers_.emplace(key_of(role, name.c_str()), count());
    if (added) {
        // A weight that was nobody's place may be this one.
        weights_.clear();
        roles_ |= 1u << int(role);
    }
    return entry->second;
}

int32_t Places::find(Role role, const char *name) const {
    auto found = numbers_.find(key_of(role, name));
    return found == numbers_.end() ? -1 : found->second;
}

int32_t Places::of_weight(Role role, Node weight) {
    // Tensors lie at multiples of 8: the role fits below.
    uintptr_t key = reinterpret_cast<uintptr_t>(weight.tensor()) | uintptr_t(role);
    auto entry = weights_.find(key);
    if (entry == weights_.end())
        entry = weights_.emplace(key, find(role, weight.name())).first;
    return entry->second;
}

int32_t Places::of_node(Node node) const { return find(Role::node, node.name()); }

} // namespace veneer
