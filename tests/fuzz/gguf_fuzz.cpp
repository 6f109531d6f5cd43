// libFuzzer: any bytes as a GGUF file. Good seeds are the files in tests/golden/models.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/gguf_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int descriptor = ::memfd_create("gguf", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, 0) != 0) return -1;
  if (::pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size)) return -1;
  luce::support::exercise_gguf("/proc/self/fd/" + std::to_string(descriptor));
  return 0;
}
