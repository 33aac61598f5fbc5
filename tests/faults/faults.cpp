// Makes the N-th call of one kind fail, or ends the process at that call. The library is loaded before the C library
// (LD_PRELOAD) and controlled by tests/faults/trial.py. Only writes, syncs and renames of files in one folder count,
// and only allocations by one library, so that Python itself keeps working.

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
}

namespace {

enum Kind : int { kWrite, kSync, kRename, kMalloc, kKinds };

long counts[kKinds];
int armed_kind = -1;
long armed_at = 0;
bool goes_on = false;  // every later call fails, too, as on a full disk
bool kills = false;
char folder[PATH_MAX];
uintptr_t caller_begin = 0, caller_end = 0;

// Returns true for the chosen call; ends the process instead if the trial chose that.
bool fails(Kind kind) {
    const long number = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != armed_kind || armed_at == 0 || (goes_on ? number < armed_at : number != armed_at)) return false;
    if (kills) kill(getpid(), SIGKILL);
    return true;
}

bool is_in_folder(const char* path) {
    return folder[0] != 0 && strncmp(path, folder, strlen(folder)) == 0;
}

bool is_in_folder(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return false;
    path[n] = 0;
    return is_in_folder(path);
}

bool is_asked_by(void* caller) {
    const auto address = reinterpret_cast<uintptr_t>(caller);
    return address >= caller_begin && address < caller_end;
}

template <typename F>
F real(const char* name) {
    return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

int find_library(dl_phdr_info* info, size_t, void* wanted) {
    if (strstr(info->dlpi_name, static_cast<const char*>(wanted)) == nullptr) return 0;
    caller_begin = UINTPTR_MAX;
    caller_end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
        const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
        caller_begin = begin < caller_begin ? begin : caller_begin;
        caller_end = begin + segment.p_memsz > caller_end ? begin + segment.p_memsz : caller_end;
    }
    return 1;
}

}  // namespace

extern "C" {

// Interface for the trial.

void fault_arm(int kind, long at, int all_later, int kill_there) {
    memset(counts, 0, sizeof counts);
    armed_at = at;
    goes_on = all_later != 0;
    kills = kill_there != 0;
    armed_kind = kind;
}

long fault_count(int kind) {
    return counts[kind];
}

void fault_folder(const char* path) {
    snprintf(folder, sizeof folder, "%s", path);
}

int fault_caller(const char* library) {
    return dl_iterate_phdr(find_library, const_cast<char*>(library));
}

// Replacements for the functions that the program calls.

ssize_t write(int file, const void* data, size_t n) {
    static const auto call = real<ssize_t (*)(int, const void*, size_t)>("write");
    if (is_in_folder(file) && fails(kWrite)) return errno = ENOSPC, -1;
    return call(file, data, n);
}

ssize_t pwrite64(int file, const void* data, size_t n, off64_t at) {
    static const auto call = real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
    if (is_in_folder(file) && fails(kWrite)) return errno = ENOSPC, -1;
    return call(file, data, n, at);
}

ssize_t pwrite(int file, const void* data, size_t n, off_t at) {
    return pwrite64(file, data, n, at);
}

int ftruncate64(int file, off64_t n) {
    static const auto call = real<int (*)(int, off64_t)>("ftruncate64");
    if (is_in_folder(file) && fails(kWrite)) return errno = ENOSPC, -1;
    return call(file, n);
}

int ftruncate(int file, off_t n) {
    return ftruncate64(file, n);
}

static int open_file(const char* name, const char* path, int flags, mode_t mode) {
    const auto call = real<int (*)(const char*, int, mode_t)>(name);
    // Making a file takes space in its folder.
    if ((flags & O_CREAT) != 0 && is_in_folder(path) && access(path, F_OK) != 0 && fails(kWrite)) {
        return errno = ENOSPC, -1;
    }
    return call(path, flags, mode);
}

int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = static_cast<mode_t>(va_arg(more, int));
    va_end(more);
    return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = static_cast<mode_t>(va_arg(more, int));
    va_end(more);
    return open_file("open64", path, flags, mode);
}

int fsync(int file) {
    static const auto call = real<int (*)(int)>("fsync");
    if (is_in_folder(file) && fails(kSync)) return errno = EIO, -1;
    return call(file);
}

int fdatasync(int file) {
    static const auto call = real<int (*)(int)>("fdatasync");
    if (is_in_folder(file) && fails(kSync)) return errno = EIO, -1;
    return call(file);
}

int rename(const char* from, const char* to) {
    static const auto call = real<int (*)(const char*, const char*)>("rename");
    if (is_in_folder(to) && fails(kRename)) return errno = EIO, -1;
    return call(from, to);
}

void* malloc(size_t n) {
    if (is_asked_by(__builtin_return_address(0)) && fails(kMalloc)) return errno = ENOMEM, nullptr;
    return __libc_malloc(n);
}

void* calloc(size_t n, size_t size) {
    if (is_asked_by(__builtin_return_address(0)) && fails(kMalloc)) return errno = ENOMEM, nullptr;
    return __libc_calloc(n, size);
}

void* realloc(void* block, size_t n) {
    if (is_asked_by(__builtin_return_address(0)) && fails(kMalloc)) return errno = ENOMEM, nullptr;
    return __libc_realloc(block, n);
}

}  // extern "C"

void* operator new(size_t n) {
    if (is_asked_by(__builtin_return_address(0)) && fails(kMalloc)) throw std::bad_alloc();
    if (void* block = __libc_malloc(n > 0 ? n : 1)) return block;
    throw std::bad_alloc();
}
