#include "script.h"

namespace veneer {

bool Script::Line::is(Node node) const {
    return tensor == node.tensor() && op == node.op() && src0 == node.src(0).tensor() &&
           src1 == node.src(1).tensor();
}

bool Script::stands(size_t at, Node node) const { return at < lines_.size() && lines_[at].is(node); }

int32_t Script::step(Node node) {
    if (!stands(next_, node)) {
        if (!stands(0, node)) return UNKNOWN;
        next_ = 0;
    }
    return lines_[next_++].place;
}

void Script::note(Node node, int32_t place) {
    lines_.resize(next_);
    lines_.push_back({node.tensor(), node.src(0).tensor(), node.src(1).tensor(), node.op(), place});
    next_++;
}

void Script::clear() {
    lines_.clear();
    next_ = 0;
}

const Script::Line *Script::ahead(size_t count) const {
    return next_ + count < lines_.size() ? &lines_[next_ + count] : nullptr;
}

} // namespace veneer
