#include "text/jinja/heap.hpp"

#include "text/jinja/error.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

Tracked::Tracked(Heap& heap) : heap_(heap), next_(heap.first_) {
  if (next_ != nullptr) next_->previous_ = this;
  heap.first_ = this;
}

Tracked::~Tracked() {
  heap_.give(charged_bytes_);
  (previous_ == nullptr ? heap_.first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void Tracked::charge(size_t bytes) {
  heap_.take(bytes);
  charged_bytes_ += bytes;
}

void Tracked::bury() {
  surrender(heap_.graveyard_);
  heap_.drain();
}

Heap::Heap(const Limits& limits) : limits_(limits) {}

// Whatever is alive now is held by a circle.
Heap::~Heap() {
  for (Tracked* object = first_; object != nullptr; object = object->next_) object->surrender(graveyard_);
  drain();
}

void Heap::drain() noexcept {
  if (draining_) return;
  draining_ = true;
  while (!graveyard_.empty()) {
    // A destructor that runs here only adds to the graveyard.
    const Value dead = std::move(graveyard_.back());
    graveyard_.pop_back();
  }
  draining_ = false;
}

void Heap::take(size_t bytes) {
  if (bytes > limits_.memory_bytes - used_bytes_) {
    raise_limit("the template needs more than {} MiB of memory", limits_.memory_bytes >> 20);
  }
  used_bytes_ += bytes;
}

void Heap::out_of_steps() const { raise_limit("the template takes more than {} steps", limits_.steps); }

}  // namespace luce::text::jinja
