#include "library.h"

#include "layout.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace veneer {

#ifdef _WIN32

static std::wstring wide(const std::string &utf8) {
    int size = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), int(utf8.size()), nullptr, 0);
    std::wstring text(size, L'\0');
    MultiByteToWideChar(CP_UTF8, 0, utf8.data(), int(utf8.size()), text.data(), size);
    return text;
}

static void *open(const std::string &path) {
    return reinterpret_cast<void *>(GetModuleHandleW(wide(path).c_str()));
}

static void *symbol(void *handle, const char *name) {
    return reinterpret_cast<void *>(GetProcAddress(reinterpret_cast<HMODULE>(handle), name));
}

#else

static void *open(const std::string &path) {
    return dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

static void *symbol(void *handle, const char *name) { return dlsym(handle, name); }

#endif

Library::Library(const std::string &path) : path_(path), handle_(open(path)) {
    if (!handle_) throw ProbeError(path + " is not loaded in this process");
}

void *Library::find(const char *name) const {
    void *found = symbol(handle_, name);
    if (!found) throw ProbeError(path_ + " has no function " + name);
    return found;
}

} // namespace veneer
