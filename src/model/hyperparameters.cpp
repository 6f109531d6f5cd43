#include "model/hyperparameters.hpp"

#include <cmath>

#include "base/error.hpp"
#include "model/network.hpp"

namespace luce::model {
namespace {

constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxLayers = 512;
constexpr int64_t kMaxHeads = 4096;
constexpr int64_t kMaxExperts = 65536;
constexpr int64_t kMaxContext = int64_t{1} << 30;

/// Reads "<architecture>.<key>" and checks its range.
class KeyReader {
 public:
  KeyReader(const gguf::Metadata& metadata, std::string architecture)
      : metadata_(metadata), architecture_(std::move(architecture)) {}

  int64_t count(const std::string& key, int64_t most) const { return checked(key, metadata_.get_i64(full(key)), most); }

  int64_t count_or(const std::string& key, int64_t fallback, int64_t most) const {
    const auto found = metadata_.find_i64(full(key));
    return found ? checked(key, *found, most) : fallback;
  }

  float positive_or(const std::string& key, float fallback) const {
    const auto found = metadata_.find_f32(full(key));
    const float value = found.value_or(fallback);
    if (!std::isfinite(value) || value <= 0) {
      fail(ErrorKind::invalid_file, "{} is {}, expected a positive number; the model file is damaged", full(key),
           value);
    }
    return value;
  }

  std::string full(const std::string& key) const { return architecture_ + "." + key; }
  const gguf::Metadata& metadata() const { return metadata_; }

 private:
  int64_t checked(const std::string& key, int64_t value, int64_t most) const {
    if (value < 1 || value > most) {
      fail(ErrorKind::invalid_file, "{} is {}, expected 1 to {}; the model file is damaged", full(key), value, most);
    }
    return value;
  }

  const gguf::Metadata& metadata_;
  std::string architecture_;
};

int small(int64_t value) { return static_cast<int>(value); }

void read_attention_keys(const KeyReader& keys, Hyperparameters& h) {
  h.heads = small(keys.count("attention.head_count", kMaxHeads));
  h.kv_heads = small(keys.count_or("attention.head_count_kv", h.heads, kMaxHeads));
  if (h.heads % h.kv_heads != 0) {
    fail(ErrorKind::invalid_file, "{} is {}, expected a divisor of {} = {}; the model file is damaged",
         keys.full("attention.head_count_kv"), h.kv_heads, keys.full("attention.head_count"), h.heads);
  }
  h.key_width = keys.count_or("attention.key_length", h.width / h.heads, kMaxWidth);
  h.value_width = keys.count_or("attention.value_length", h.key_width, kMaxWidth);
  if (h.key_width < 1 || h.value_width < 1) {
    fail(ErrorKind::invalid_file, "{} is {}, expected at most {} = {}; the model file is damaged",
         keys.full("attention.head_count"), h.heads, keys.full("embedding_length"), h.width);
  }
}

void read_rotary_keys(const KeyReader& keys, Hyperparameters& h) {
  h.rotary_dimensions = small(keys.count_or("rope.dimension_count", h.key_width, h.key_width));
  if (h.rotary_dimensions % 2 != 0) {
    fail(ErrorKind::invalid_file, "{} is {}, expected an even number; the model file is damaged",
         keys.full("rope.dimension_count"), h.rotary_dimensions);
  }
  h.rotary_base = keys.positive_or("rope.freq_base", 10000.0F);
  const std::string type(keys.metadata().find_string(keys.full("rope.scaling.type")).value_or("none"));
  if (type != "none" && type != "linear") {
    fail(ErrorKind::unsupported, "{} is '{}'; supported are none and linear, so use a file without context extension",
         keys.full("rope.scaling.type"), type);
  }
  if (type == "linear") h.rotary_scale = 1.0F / keys.positive_or("rope.scaling.factor", 1.0F);
}

void read_expert_keys(const KeyReader& keys, const ArchitectureTraits& traits, Hyperparameters& h) {
  if (!traits.experts &&
      !(traits.optional_experts && keys.metadata().find_i64(keys.full("expert_count")).value_or(0) > 0)) {
    return;
  }
  h.experts = small(keys.count("expert_count", kMaxExperts));
  h.experts_used = small(keys.count("expert_used_count", h.experts));
  h.expert_feed_forward = keys.count_or("expert_feed_forward_length", h.feed_forward, kMaxWidth);
  if (h.expert_feed_forward < 1) {
    fail(ErrorKind::invalid_file, "{} is missing; the model file is damaged", keys.full("expert_feed_forward_length"));
  }
  if (traits.shared_expert) h.shared_feed_forward = keys.count("expert_shared_feed_forward_length", kMaxWidth);
}

void read_recurrent_keys(const KeyReader& keys, Hyperparameters& h) {
  h.full_attention_interval = small(keys.count_or("full_attention_interval", 4, kMaxLayers));
  h.convolution_taps = small(keys.count("ssm.conv_kernel", 64));
  if (h.convolution_taps < 2) {
    fail(ErrorKind::invalid_file, "{} is 1, expected 2 to 64; the model file is damaged", keys.full("ssm.conv_kernel"));
  }
  h.recurrent_width = keys.count("ssm.inner_size", kMaxWidth);
  h.recurrent_key_width = keys.count("ssm.state_size", kMaxWidth);
  h.recurrent_key_heads = small(keys.count("ssm.group_count", kMaxHeads));
  h.recurrent_value_heads = small(keys.count("ssm.time_step_rank", kMaxHeads));
  if (h.recurrent_value_heads % h.recurrent_key_heads != 0 || h.recurrent_width % h.recurrent_value_heads != 0) {
    fail(ErrorKind::invalid_file,
         "{} is {}, expected a multiple of {} = {} and a divisor of {} = {}; the model file is damaged",
         keys.full("ssm.time_step_rank"), h.recurrent_value_heads, keys.full("ssm.group_count"), h.recurrent_key_heads,
         keys.full("ssm.inner_size"), h.recurrent_width);
  }
}

int read_layers(const KeyReader& keys) {
  const int64_t blocks = keys.count("block_count", kMaxLayers);
  const int64_t prediction_blocks = keys.metadata().find_i64(keys.full("nextn_predict_layers")).value_or(0);
  if (prediction_blocks < 0 || prediction_blocks >= blocks) {
    fail(ErrorKind::invalid_file, "{} is {}, expected less than {} = {}; the model file is damaged",
         keys.full("nextn_predict_layers"), prediction_blocks, keys.full("block_count"), blocks);
  }
  return small(blocks - prediction_blocks);
}

}  // namespace

Hyperparameters read_hyperparameters(const gguf::File& file) {
  const gguf::Metadata& metadata = file.metadata();
  Hyperparameters h;
  h.architecture = metadata.get_string("general.architecture");
  const ArchitectureTraits& traits = find_architecture(h.architecture);
  h.name = metadata.find_string("general.name").value_or(h.architecture);

  const KeyReader keys(metadata, h.architecture);
  h.layers = read_layers(keys);
  h.trained_context = small(keys.count("context_length", kMaxContext));
  h.width = keys.count("embedding_length", kMaxWidth);
  h.norm_epsilon = keys.positive_or("attention.layer_norm_rms_epsilon", 1e-5F);
  h.feed_forward = keys.count_or("feed_forward_length", 0, kMaxWidth);
  const gguf::TensorInfo& embedding = file.get("token_embd.weight");
  h.vocabulary = embedding.shape.rank() == 2 ? embedding.shape[0] : 0;
  if (h.vocabulary < 1 || h.vocabulary > kMaxWidth * 4) {
    fail(ErrorKind::invalid_file, "tensor token_embd.weight has shape {}, expected [vocabulary, {}]",
         embedding.shape.to_string(), h.width);
  }
  read_attention_keys(keys, h);
  read_rotary_keys(keys, h);
  read_expert_keys(keys, traits, h);
  if (traits.hybrid) read_recurrent_keys(keys, h);
  if (h.experts == 0 && h.feed_forward < 1) {
    fail(ErrorKind::invalid_file, "{} is missing; the model file is damaged", keys.full("feed_forward_length"));
  }
  return h;
}

}  // namespace luce::model
