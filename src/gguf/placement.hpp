#pragma once

#include <vector>

#include "base/file.hpp"
#include "gguf/file.hpp"
#include "gguf/header.hpp"

namespace luce::gguf {

/// Turns the records of a part into checked places: aligned, inside the file, none over another. Throws invalid_file.
std::vector<TensorInfo> place_tensors(const base::FileHandle& file, Header& header, uint32_t part);

/// Refuses a file behind whose last tensor another GGUF file begins, as when parts are joined with cat.
void refuse_joined_files(const base::FileHandle& file, const Header& header, std::span<const TensorInfo> tensors);

}  // namespace luce::gguf
