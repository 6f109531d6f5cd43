#pragma once

#include "completion/grammar/program.hpp"

namespace luce::completion {

/// Grammar of JSON, built once into a program and shared by what refers to it. White space is bounded, so that a model
/// cannot go on with it for ever.
class JsonRules {
 public:
  explicit JsonRules(GrammarBuilder& builder) : builder_(builder) {}

  /// None, one blank, or a line break with indentation.
  int space(int next);
  /// `parts` with white space between them are built by the caller: this is `text` with white space before it.
  int punctuation(std::string_view text, int next) { return space(builder_.literal(text, next)); }

  int value(int next);
  int object(int next);
  int array(int next);
  int string(int next);
  int integer(int next);
  int number(int next);
  int boolean(int next);
  int null(int next) { return builder_.literal("null", next); }

  /// One character inside a string, escaped or not.
  int character(int next);

 private:
  int call(int& rule, int (JsonRules::*define)(), int next);
  int define_space();
  int define_value();
  int define_object();
  int define_array();
  int define_string();
  int define_number();
  int define_integer();
  int define_character();
  int list(std::string_view open, std::string_view close, int element);
  int unicode_escape();
  int digits(int least, int most, int next);

  GrammarBuilder& builder_;
  int space_ = -1;
  int value_ = -1;
  int object_ = -1;
  int array_ = -1;
  int string_ = -1;
  int integer_ = -1;
  int number_ = -1;
  int character_ = -1;
  int digit_ = -1;
};

/// All bytes of a text as a set.
ByteSet bytes_of(std::string_view text);
ByteSet byte_span(unsigned char first, unsigned char last);

}  // namespace luce::completion
