// The worker's folder. See folder.h.
#include "folder.h"
#include <climits>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace optsleuth {
namespace {
char root[PATH_MAX];
char directory[PATH_MAX]; // Part of it.

// Removes a folder even where its modes say that it cannot be listed.
void remove_unlistable(const std::filesystem::path &folder) {
  std::error_code ignored;
  chmod(folder.c_str(), 0700);
  for (auto &entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
      remove_unlistable(entry.path());
  std::filesystem::remove_all(folder, ignored);
}
} // namespace

namespace folder {
bool enter(std::string_view path) {
  constexpr char kPrivate[] = "/private"; // The host knows it by this name.
  if (path.empty() || path.size() + sizeof kPrivate >= sizeof directory)
    return false;
  memcpy(root, path.data(), path.size()); // Zeroes follow.
  memcpy(directory, path.data(), path.size());
  memcpy(directory + path.size(), kPrivate, sizeof kPrivate);
  return chdir(directory) == 0;
}

const char *private_directory() { return directory; }

// Costs one system call where nothing is left.
void clean() {
  char entries[4096];
  bool used = false;
  int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0)
    return;
  long bytes = syscall(SYS_getdents64, at, entries, sizeof entries);
  close(at);
  constexpr size_t kNameOffset = 19, kLengthOffset = 16;
  for (long i = 0; i < bytes;) {
    const char *name = entries + i + kNameOffset;
    used = used || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    uint16_t length;
    memcpy(&length, entries + i + kLengthOffset, sizeof length);
    i += length;
  }
  if (!used)
    return;
  pid_t cleaner = fork();
  if (cleaner == 0) {
    std::error_code ignored;
    for (auto &entry : std::filesystem::directory_iterator(directory, ignored)) {
      if (entry.is_directory(ignored) && !entry.is_symlink(ignored))
        remove_unlistable(entry.path());
      else
        std::filesystem::remove(entry.path(), ignored);
    }
    _exit(0);
  }
  if (cleaner > 0)
    waitpid(cleaner, nullptr, 0);
}

void remove() {
  if (!*root)
    return;
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}
} // namespace folder
} // namespace optsleuth
