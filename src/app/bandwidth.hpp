#pragma once

#include <cstddef>

#include "gguf/file.hpp"

namespace luce::app {

/// Bytes per second that `threads` threads read together from `buffer_bytes` of memory: the median of several passes
/// after one to touch it. The memory is given back before this returns.
double measure_memory_bandwidth(size_t buffer_bytes, int threads);

/// Bytes per second of reads of expert size all over the model file, perhaps from the page cache.
double measure_file_bandwidth(const gguf::File& file);

}  // namespace luce::app
