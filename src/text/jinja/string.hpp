#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/heap.hpp"
#include "text/rendered_prompt.hpp"

namespace luce::text::jinja {

/// Who wrote a piece of text: the template (or the model's maker), or the client.
enum class Origin : uint8_t { trusted, plain };

/// An immutable text in valid UTF-8 that remembers which of its bytes came from the client. Cheap to copy.
class String {
 public:
  /// The empty text.
  String() = default;
  /// A text of the template, outside of any budget.
  static String literal(std::string text);

  std::string_view view() const { return data_ ? std::string_view(data_->bytes) : std::string_view(); }
  std::span<const Span> plain_spans() const {
    return data_ ? std::span<const Span>(data_->plain) : std::span<const Span>();
  }
  size_t size() const { return view().size(); }
  bool empty() const { return view().empty(); }
  bool is_ascii() const { return !data_ || data_->ascii; }
  /// Marked as safe by a filter; only escaping looks at it.
  bool is_markup() const { return data_ && data_->markup; }
  /// Who wrote a byte.
  Origin origin_at(size_t byte) const;
  /// Code points.
  size_t length() const;
  /// Byte offset of a code point; `index` may be the length.
  size_t offset_of(size_t index) const;

 private:
  friend class StringBuilder;
  struct Data {
    std::string bytes;
    std::vector<Span> plain;
    bool ascii = true;
    bool markup = false;
    Heap* heap = nullptr;
    size_t charged_bytes = 0;
    ~Data() {
      if (heap != nullptr) heap->give(charged_bytes);
    }
  };
  explicit String(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

/// Puts a String together. Every append is charged to the heap before it is made.
class StringBuilder {
 public:
  explicit StringBuilder(Heap& heap) : heap_(heap) {}
  ~StringBuilder();
  StringBuilder(const StringBuilder&) = delete;
  StringBuilder& operator=(const StringBuilder&) = delete;

  void append(std::string_view text, Origin origin = Origin::trusted);
  void append(const String& text) { append(text, 0, text.size()); }
  /// Bytes [begin, end) of a text.
  void append(const String& text, size_t begin, size_t end);
  /// `count` times a text.
  void append_times(const String& text, size_t count);
  void append_times(char c, size_t count) { append_times(String::literal(std::string(1, c)), count); }
  /// Removes bytes from the end.
  void shorten(size_t size);

  size_t size() const { return bytes_.size(); }
  std::string_view view() const { return bytes_; }
  Heap& heap() const { return heap_; }
  String finish(bool markup = false);
  /// The text without a budget, when it leaves the rendering.
  RenderedPrompt release();

 private:
  void grow(size_t bytes);
  void mark(size_t begin, size_t end);

  Heap& heap_;
  std::string bytes_;
  std::vector<Span> plain_;
  size_t charged_bytes_ = 0;
};

String make_string(Heap& heap, std::string_view text, Origin origin = Origin::trusted);
/// Bytes [begin, end) of a text, the text itself if that is all of it.
String slice(Heap& heap, const String& text, size_t begin, size_t end);
String concatenate(Heap& heap, const String& a, const String& b);

}  // namespace luce::text::jinja
