// Activations as memory of this process, wherever they are.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.h"

namespace veneer {

class Reach {
  public:
    // `copies`: go through ggml's own copying for every tensor, as for those on a device.
    Reach(const Layout &layout, bool copies) : layout_(layout), copies_(copies) {}
    // Whether the tensor is in this process' memory.
    bool here(Node node) const;
    // The tensor's bytes; a copy if it is elsewhere. Good until the next call with this slot.
    char *open(Node node, int slot);
    // Bring changes home.
    void close(Node node, int slot);
    // The numbers of an I32 tensor of one dimension, or of rows that may lie apart.
    std::vector<int32_t> integers(Node node);

  private:
    const Layout &layout_;
    bool copies_;
    std::vector<char> copy_[3];
};

} // namespace veneer
