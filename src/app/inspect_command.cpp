#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "app/command_line.hpp"
#include "app/model_path.hpp"
#include "base/byte_size.hpp"
#include "base/format.hpp"
#include "device/cpu/isa.hpp"
#include "gguf/file.hpp"
#include "gguf/printable.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMostElements = 8;  // of an array, in the table
constexpr size_t kMostTextBytes = 60;

struct InspectArguments {
  std::string model;
  bool json = false;
  bool kernels = false;
  std::string isa = "auto";
};

struct FormatTotal {
  int tensors = 0;
  uint64_t bytes = 0;
};

Json scalar_json(const gguf::Value& value) {
  if (const auto flag = value.as_bool()) return *flag;
  if (const auto text = value.as_string()) return std::string(*text);
  if (const auto number = value.as_i64()) return *number;
  if (const auto number = value.as_u64()) return *number;
  const double number = value.as_f64().value_or(0);
  if (value.type() != gguf::ValueType::f32) return number;
  // The shortest text of the float, not of the double that it becomes.
  return std::stod(fmt::format("{}", static_cast<float>(number)));
}

Json value_json(const gguf::Value& value) {
  if (value.type() != gguf::ValueType::array) return scalar_json(value);
  Json array = Json::array();
  for (const gguf::Value& each : value.elements()) array.push_back(value_json(each));
  return array;
}

std::string value_text(const gguf::Value& value) {
  if (value.type() != gguf::ValueType::array) {
    const auto text = value.as_string();
    return text ? gguf::printable(*text, kMostTextBytes) : scalar_json(value).dump();
  }
  std::string text = fmt::format("{} {}: ", value.count(), gguf::type_name(value.element_type()));
  for (const gguf::Value& each : value.elements(kMostElements)) {
    const auto word = each.as_string();
    text += (word ? gguf::printable(*word, 12) : scalar_json(each).dump()) + " ";
  }
  return text + (value.count() > kMostElements ? "..." : "");
}

std::map<std::string, FormatTotal> totals_by_format(const gguf::File& file) {
  std::map<std::string, FormatTotal> totals;
  for (const gguf::TensorInfo& each : file.tensors()) {
    FormatTotal& total = totals[std::string(tensor::info(each.format).name)];
    ++total.tensors;
    total.bytes += each.bytes;
  }
  return totals;
}

/// Keys such as qwen3moe.expert_count, without the architecture before them.
std::optional<uint64_t> architecture_key(const gguf::File& file, const std::string& key) {
  const auto architecture = file.metadata().find_string("general.architecture");
  if (!architecture) return std::nullopt;
  const auto value = file.metadata().find(fmt::format("{}.{}", *architecture, key));
  return value ? value->as_u64() : std::nullopt;
}

/// How the CPU multiplies each tensor; null when that was not asked for.
using Kernels = const device::cpu::KernelTable*;

std::string kernel_of(const device::cpu::KernelTable& table, const gguf::TensorInfo& tensor) {
  if (!tensor::info(tensor.format).computes) return "none";
  // Vectors and the taps of convolutions are kept as numbers.
  if (tensor.shape.rank() < 2 || tensor.name.ends_with("conv1d.weight")) return "values in F32";
  return device::cpu::describe_kernel(table, tensor.format);
}

Json tensors_json(const gguf::File& file, Kernels kernels) {
  Json tensors = Json::array();
  for (const gguf::TensorInfo& each : file.tensors()) {
    Json shape = Json::array();
    for (int i = 0; i < each.shape.rank(); ++i) shape.push_back(each.shape[i]);
    tensors.push_back({{"name", gguf::printable(each.name, 200)},
                       {"format", tensor::info(each.format).name},
                       {"shape", std::move(shape)},
                       {"part", each.part},
                       {"offset", each.offset_bytes},
                       {"bytes", each.bytes}});
    if (kernels != nullptr) tensors.back()["kernel"] = kernel_of(*kernels, each);
  }
  return tensors;
}

Json file_json(const gguf::File& file, Kernels kernels) {
  Json metadata = Json::object();
  for (size_t i = 0; i < file.metadata().size(); ++i)
    metadata[std::string(file.metadata().key(i))] = value_json(file.metadata().value(i));
  Json formats = Json::object();
  for (const auto& [name, total] : totals_by_format(file))
    formats[name] = {{"tensors", total.tensors}, {"bytes", total.bytes}};
  Json experts = nullptr;
  if (const auto count = architecture_key(file, "expert_count"))
    experts = {{"count", *count}, {"used", architecture_key(file, "expert_used_count").value_or(0)}};
  return {{"file", file.path()},
          {"version", file.version()},
          {"parts", file.part_count()},
          {"bytes", file.size_bytes()},
          {"metadata", std::move(metadata)},
          {"formats", std::move(formats)},
          {"experts", std::move(experts)},
          {"tensors", tensors_json(file, kernels)}};
}

void print_table(const gguf::File& file, Kernels kernels) {
  fmt::print("file     {}\nformat   GGUF {}, {} part{}, {}\n", file.path(), file.version(), file.part_count(),
             file.part_count() == 1 ? "" : "s", base::format_bytes(static_cast<int64_t>(file.size_bytes())));
  if (const auto count = architecture_key(file, "expert_count"))
    fmt::print("experts  {} per layer, {} used per token\n", *count,
               architecture_key(file, "expert_used_count").value_or(0));
  fmt::print("\nmetadata ({} keys)\n", file.metadata().size());
  for (size_t i = 0; i < file.metadata().size(); ++i)
    fmt::print("  {:<46} {}\n", gguf::printable(file.metadata().key(i)), value_text(file.metadata().value(i)));
  fmt::print("\nformats\n");
  for (const auto& [name, total] : totals_by_format(file))
    fmt::print("  {:<8} {:>5} tensors {:>12}\n", name, total.tensors,
               base::format_bytes(static_cast<int64_t>(total.bytes)));
  fmt::print("\ntensors ({})\n", file.tensors().size());
  for (const gguf::TensorInfo& each : file.tensors())
    fmt::print("  {:<36} {:<8} {:<24} {:>12}{}\n", gguf::printable(each.name), tensor::info(each.format).name,
               each.shape.to_string(), base::format_bytes(static_cast<int64_t>(each.bytes)),
               kernels == nullptr ? "" : "  " + kernel_of(*kernels, each));
}

int inspect(const InspectArguments& arguments) {
  const gguf::File file = gguf::File::open(find_model(arguments.model).path);
  const Kernels kernels = arguments.kernels ? &device::cpu::choose_table(arguments.isa) : nullptr;
  if (arguments.json)
    fmt::print("{}\n", file_json(file, kernels).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_table(file, kernels);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& root, Selection& selection) {
  CLI::App* const command =
      root.add_subcommand("inspect", "Shows metadata, tensors, formats and experts of a model file");
  const auto arguments = std::make_shared<InspectArguments>();
  command->add_option("FILE", arguments->model, "model file or name")->required();
  command->add_flag("--json", arguments->json, "JSON on standard output");
  CLI::Option* const kernels = command->add_flag("--kernels", arguments->kernels, "how the CPU multiplies each tensor");
  command->add_option("--isa", arguments->isa, "with --kernels: as if this instruction set were forced")
      ->needs(kernels);
  command->callback([=, &selection] { selection.run = [=] { return inspect(*arguments); }; });
}

}  // namespace luce::app
