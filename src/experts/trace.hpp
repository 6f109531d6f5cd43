#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace luce::experts {

struct TraceShape {
  int layers = 0;  // with experts
  int experts = 0;
  int top_k = 0;
};

/// What an `.lrt` file holds before its ids, and how many bytes each id takes.
std::string trace_head(const TraceShape& shape, std::span<const uint32_t> lengths);
int trace_id_bytes(int experts);

/// Recorded routing of a model, as in an `.lrt` file: little endian "LRT1", u32 layers, experts, top_k, sequences,
/// bytes per id (1 or 2), u32 length of each sequence in tokens, then ids [token][layer][k], one sequence after the
/// other. Layers are those with experts, in order.
class Trace {
 public:
  Trace(int layers, int experts, int top_k);

  /// Throws Error{io | not_found | invalid_file}; every number is checked against the file's size first.
  static Trace load(const std::string& path);
  void save(const std::string& path) const;

  int layers() const { return layers_; }
  int experts() const { return experts_; }
  int top_k() const { return top_k_; }
  int sequences() const { return static_cast<int>(lengths_.size()); }
  int64_t length(int sequence) const { return lengths_[static_cast<size_t>(sequence)]; }
  int64_t tokens() const { return tokens_; }

  /// The experts [top_k] of one token in router order.
  std::span<const uint16_t> at(int sequence, int64_t token, int layer) const;

  /// Adds an empty sequence and returns its number.
  int add_sequence();
  /// Adds a token's ids [layers, top_k] to the last sequence. Throws Error{invalid_request} for ids out of range.
  void add_token(std::span<const uint16_t> ids);

 private:
  size_t token_ids() const { return static_cast<size_t>(layers_) * static_cast<size_t>(top_k_); }

  int layers_, experts_, top_k_;
  std::vector<int64_t> lengths_;
  std::vector<int64_t> first_token_;  // of each sequence
  int64_t tokens_ = 0;
  std::vector<uint16_t> ids_;
};

}  // namespace luce::experts
