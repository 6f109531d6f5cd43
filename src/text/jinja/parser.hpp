#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.hpp"
#include "text/jinja/expressions.hpp"
#include "text/jinja/macro.hpp"
#include "text/jinja/operations.hpp"
#include "text/jinja/statements.hpp"
#include "text/jinja/token.hpp"

namespace luce::text::jinja {

/// Builds the syntax tree of a template. Throws TemplateError with line and column; nesting is limited.
class Parser {
 public:
  /// Names that the template mentions are added to `names`.
  Parser(std::vector<Token> tokens, Names& names) : tokens_(std::move(tokens)), names_(names) {}
  Body parse();

 private:
  static constexpr int kMaxNesting = 100;
  static constexpr int kMaxPostfix = 200;

  /// Counts one level of nesting while it lives.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  /// A tag that waits for its end.
  struct OpenTag {
    std::string name;
    Position at;
    std::vector<std::string_view> ends;
  };

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool at_op(std::string_view op) const { return current().kind == TokenKind::op && current().text == op; }
  bool at_name(std::string_view name) const { return current().kind == TokenKind::name && current().text == name; }
  bool take_op(std::string_view op);
  bool take_name(std::string_view name);
  void expect_op(std::string_view op);
  std::string expect_name(std::string_view what);
  void expect(TokenKind kind);
  [[noreturn]] void fail_here(const std::string& message) const { raise_at(current().at, message); }
  [[noreturn]] void unexpected(std::string_view expected) const;

  // Statements (parser_statements.cpp, parser_blocks.cpp).
  Body parse_body(const OpenTag& open);
  void parse_tag(Body& body, const OpenTag& open);
  StatementPtr parse_statement(const std::string& name, Position at);
  StatementPtr parse_if(Position at);
  StatementPtr parse_for(Position at);
  StatementPtr parse_set(Position at);
  StatementPtr parse_macro(Position at);
  StatementPtr parse_call(Position at);
  StatementPtr parse_filter_block(Position at);
  StatementPtr parse_with(Position at);
  StatementPtr parse_block(Position at);
  StatementPtr parse_generation(Position at);
  StatementPtr parse_autoescape(Position at);
  StatementPtr parse_jump(Position at, Flow flow);
  std::vector<Parameter> parse_parameters();
  Body parse_macro_body(MacroDefinition& definition, const OpenTag& open);
  /// Behind the name of an end tag.
  void end_tag() { expect(TokenKind::block_end); }
  bool at_end_of_tag() const { return current().kind == TokenKind::block_end; }

  // Assignment targets.
  Target parse_target();
  Target parse_single_target();

  // Expressions (parser_expressions.cpp), by growing binding strength.
  ExpressionPtr parse_tuple(bool with_conditional);
  ExpressionPtr parse_expression();
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_postfix(ExpressionPtr node, bool with_filters);

  // Primary expressions and their parts (parser_primary.cpp).
  ExpressionPtr parse_primary();
  ExpressionPtr parse_word();
  ExpressionPtr parse_parenthesised();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_member(ExpressionPtr object);
  ExpressionPtr parse_subscript(ExpressionPtr object);
  ExpressionPtr parse_filter(ExpressionPtr input);
  ExpressionPtr parse_test(ExpressionPtr input);
  ArgumentList parse_arguments();
  bool begins_test_argument() const;
  std::string parse_dotted_name();
  NameId use_name(const std::string& name);

  std::vector<Token> tokens_;
  Names& names_;
  size_t at_ = 0;
  int nesting_ = 0;
  int loops_ = 0;                         // around the current statement, within the current macro
  std::vector<MacroDefinition*> macros_;  // around the current statement, innermost last
};

}  // namespace luce::text::jinja
