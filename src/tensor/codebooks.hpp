#pragma once

#include <array>
#include <cstdint>

namespace luce::tensor {

/// Value tables of the IQ and FP4 formats, as the GGUF format defines them. A grid lists the points that a group of
/// weights may take, packed as codes; a code stands for a magnitude in the level table beside it.

/// IQ2: points of eight weights, 2 bits each.
extern const std::array<uint16_t, 256> kIq2XxsGrid;
extern const std::array<uint16_t, 512> kIq2XsGrid;
extern const std::array<uint16_t, 1024> kIq2SGrid;
inline constexpr std::array<uint8_t, 3> kIq2Levels = {8, 25, 43};

/// IQ3: points of four weights, 4 bits each (codes below 8).
extern const std::array<uint16_t, 256> kIq3XxsGrid;
extern const std::array<uint16_t, 512> kIq3SGrid;
inline constexpr std::array<uint8_t, 8> kIq3XxsLevels = {4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr std::array<uint8_t, 8> kIq3SLevels = {1, 3, 5, 7, 9, 11, 13, 15};

/// IQ1: points of eight weights, 2 bits each; code 0, 1, 2 is -1, 0, 1. A point is moved by plus or minus kIq1Delta.
extern const std::array<uint16_t, 2048> kIq1Grid;
inline constexpr float kIq1Delta = 0.125F;

/// IQ4_NL and IQ4_XS: value of each 4-bit code.
inline constexpr std::array<int8_t, 16> kIq4Levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                      1,    13,   25,  38,  53,  69,  89,  113};

/// MXFP4 and NVFP4: twice the E2M1 value of each 4-bit code.
inline constexpr std::array<int8_t, 16> kFp4Levels = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace luce::tensor
