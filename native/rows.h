// Which plan each row of a node runs under.
//
// A batch is cut into ubatches in its order (kv_unified = true); each begins at the lookup of the
// token embeddings, whose ids must be the next ones of the batch. In the last layer llama.cpp picks
// the rows whose outputs are wanted; nodes after that have as many rows as were picked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace veneer {

// Rows of one plan. `rows` is empty where it has all of them.
struct Group {
    int32_t plan;
    std::vector<int32_t> rows;
};

class Batch {
  public:
    // `plans` gives each token's plan; empty where all have plan 0.
    void begin(std::vector<int32_t> tokens, std::vector<int32_t> plans);
    // Whether rows have to be told apart.
    bool mixed() const { return mixed_; }
    // A ubatch of these tokens begins. False if they are not the next ones.
    bool embed(const std::vector<int32_t> &ids);
    // Outputs are picked. False if the ids are not rising rows of the ubatch.
    bool select(const std::vector<int32_t> &ids);
    // The groups of a node of n rows, or null if nothing says which rows these are.
    const std::vector<Group> *groups(int64_t n);
    int64_t ubatch_size() const { return size_; }
    // Whether every token went by.
    bool complete() const { return first_ + size_ == int64_t(tokens_.size()); }

  private:
    std::vector<Group> grouped(const std::vector<int32_t> &picked) const;

    std::vector<int32_t> tokens_, plans_;
    bool mixed_ = false, selected_ = false;
    int64_t first_ = 0, size_ = 0, n_picked_ = 0;
    std::vector<Group> whole_, picked_, everything_;
};

} // namespace veneer
