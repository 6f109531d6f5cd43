#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "app/model_assembly.hpp"
#include "completion/completer.hpp"
#include "engine/engine.hpp"
#include "server/served_model.hpp"
#include "telemetry/registry.hpp"
#include "text/chat_template.hpp"

namespace luce::app {

/// A loaded model that answers: engine and completer over a ModelAssembly.
class Service {
 public:
  /// `assembly` must be loaded; it and `registry` must outlive this. Throws Error{invalid_file} for a broken template.
  Service(ModelAssembly& assembly, const ResolvedSettings& settings, telemetry::Registry& registry);

  engine::Engine& engine() { return *engine_; }
  const completion::Completer& completer() const { return *completer_; }
  bool has_chat_template() const { return chat_template_ != nullptr; }

  server::ServedModel served(const std::string& name) const;

 private:
  const ModelAssembly& assembly_;
  std::unique_ptr<text::ChatTemplate> chat_template_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<completion::Completer> completer_;
};

/// What the engine's steps need of a model when `sequences` run at the same time.
StepNeeds service_needs(const ResolvedSettings& settings, int sequences);

}  // namespace luce::app
