// Where threads that work on the same thing wait for each other.
//
// They are the threads of a running graph, each with a processor of its own and in step to a
// microsecond, so they wait awake; but not for long, in case there are more threads than processors.
#pragma once

#include <atomic>
#include <thread>

namespace veneer {

class Meeting {
  public:
    // Goes on when all `threads` have come.
    void wait(int threads) {
        if (threads == 1) return;
        int round = round_.load(std::memory_order_relaxed);
        if (came_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
            came_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        for (int tries = 0; round_.load(std::memory_order_acquire) == round; tries++)
            if (tries > PATIENCE) std::this_thread::yield();
    }

  private:
    static constexpr int PATIENCE = 10'000;
    alignas(64) std::atomic<int> came_{0};
    alignas(64) std::atomic<int> round_{0};
};

} // namespace veneer
