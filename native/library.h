// Functions of a shared library that is loaded already.
#pragma once

#include <string>

namespace veneer {

class Library {
  public:
    // Raises ProbeError if the library is not loaded in this process.
    explicit Library(const std::string &path);
    // Raises ProbeError if there is no such function.
    template <class F> F function(const char *name) const {
        return reinterpret_cast<F>(find(name));
    }

  private:
    void *find(const char *name) const;
    std::string path_;
    void *handle_;
};

} // namespace veneer
