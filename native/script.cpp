#include "script.h"

namespace veneer {

Script::Line Script::line(Node node, int32_t place) {
    return {node.tensor(), node.src(0).tensor(), node.src(1).tensor(), node.op(), place};
}

bool Script::stands(size_t at, const Line &line) const {
    if (at >= lines_.size()) return false;
    const Line &noted = lines_[at];
    return noted.tensor == line.tensor && noted.op == line.op && noted.src0 == line.src0 &&
           noted.src1 == line.src1;
}

int32_t Script::step(Node node) {
    Line here = line(node, UNKNOWN);
    if (!stands(next_, here)) {
        if (!stands(0, here)) return UNKNOWN;
        next_ = 0;
    }
    return lines_[next_++].place;
}

void Script::note(Node node, int32_t place) {
    lines_.resize(next_);
    lines_.push_back(line(node, place));
    next_++;
}

void Script::clear() {
    lines_.clear();
    next_ = 0;
}

} // namespace veneer
