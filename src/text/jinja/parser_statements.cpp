#include <algorithm>

#include "text/jinja/loop.hpp"
#include "text/jinja/parser.hpp"

namespace luce::text::jinja {
namespace {

std::string shown(const Token& token) {
  switch (token.kind) {
    case TokenKind::end: return "the end of the template";
    case TokenKind::block_end: return "'%}'";
    case TokenKind::variable_end: return "'}}'";
    case TokenKind::block_begin: return "'{%'";
    case TokenKind::variable_begin: return "'{{'";
    case TokenKind::data: return "text";
    case TokenKind::string: return "a string";
    case TokenKind::integer:
    case TokenKind::real: return "a number";
    default: return "'" + token.text + "'";
  }
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string out;
  size_t left = names.size();
  for (const std::string_view name : names) {
    --left;
    out += "'" + std::string(name) + "'" + (left > 1 ? ", " : left == 1 ? " or " : "");
  }
  return out;
}

}  // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (parser.nesting_ >= kMaxNesting) parser.fail_here("the template is nested too deeply here");
  ++parser.nesting_;
}

bool Parser::take_op(std::string_view op) {
  if (!at_op(op)) return false;
  take();
  return true;
}

bool Parser::take_name(std::string_view name) {
  if (!at_name(name)) return false;
  take();
  return true;
}

void Parser::unexpected(std::string_view expected) const {
  fail_here("expected " + std::string(expected) + ", found " + shown(current()));
}

void Parser::expect_op(std::string_view op) {
  if (!take_op(op)) unexpected("'" + std::string(op) + "'");
}

std::string Parser::expect_name(std::string_view what) {
  if (current().kind != TokenKind::name) unexpected(what);
  return take().text;
}

void Parser::expect(TokenKind kind) {
  if (current().kind != kind) unexpected(kind == TokenKind::block_end ? "'%}'" : "'}}'");
  take();
}

Body Parser::parse() { return parse_body({"", {}, {}}); }

// Up to a tag that ends `open`, whose name is then the current token; or to the end of the template.
Body Parser::parse_body(const OpenTag& open) {
  const Nesting nesting(*this);
  Body body;
  while (true) {
    const Position at = current().at;
    switch (current().kind) {
      case TokenKind::data: body.push_back(std::make_unique<Data>(at, take().text)); break;
      case TokenKind::variable_begin: {
        take();
        ExpressionPtr value = parse_tuple(true);
        expect(TokenKind::variable_end);
        body.push_back(std::make_unique<Print>(at, std::move(value)));
        break;
      }
      case TokenKind::block_begin: {
        take();
        const bool ends = std::find_if(open.ends.begin(), open.ends.end(),
                                       [this](std::string_view end) { return at_name(end); }) != open.ends.end();
        if (ends) return body;
        parse_tag(body, open);
        break;
      }
      default:
        if (open.ends.empty()) return body;
        fail_here("expected " + list_of(open.ends) + " for the '" + open.name + "' of " + describe(open.at) +
                  ", found the end of the template");
    }
  }
}

void Parser::parse_tag(Body& body, const OpenTag& open) {
  const Position at = current().at;
  const std::string name = expect_name("the name of a tag");
  const bool stray = name.rfind("end", 0) == 0 || name == "else" || name == "elif";
  if (stray && !open.ends.empty()) {
    raise_at(at, "expected " + list_of(open.ends) + " for the '" + open.name + "' of " + describe(open.at) +
                     ", found '" + name + "'");
  }
  if (stray) raise_at(at, "found '" + name + "', but nothing is open here");
  if (name == "print") {
    while (!at_end_of_tag()) {
      body.push_back(std::make_unique<Print>(at, parse_expression()));
      if (!take_op(",")) break;
    }
    end_tag();
    return;
  }
  body.push_back(parse_statement(name, at));
}

StatementPtr Parser::parse_statement(const std::string& name, Position at) {
  if (name == "if") return parse_if(at);
  if (name == "for") return parse_for(at);
  if (name == "set") return parse_set(at);
  if (name == "macro") return parse_macro(at);
  if (name == "call") return parse_call(at);
  if (name == "filter") return parse_filter_block(at);
  if (name == "with") return parse_with(at);
  if (name == "block") return parse_block(at);
  if (name == "generation") return parse_generation(at);
  if (name == "autoescape") return parse_autoescape(at);
  if (name == "break") return parse_jump(at, Flow::leave_loop);
  if (name == "continue") return parse_jump(at, Flow::next_turn);
  for (const char* file_tag : {"include", "import", "from", "extends"}) {
    if (name == file_tag) raise_at(at, "'" + name + "' is not possible: a chat template is a single file");
  }
  raise_at(at, "there is no tag '" + name + "'");
}

StatementPtr Parser::parse_if(Position at) {
  If::Branches branches;
  Body otherwise;
  const OpenTag open{"if", at, {"elif", "else", "endif"}};
  while (true) {
    ExpressionPtr condition = parse_tuple(false);
    end_tag();
    branches.emplace_back(std::move(condition), parse_body(open));
    if (!take_name("elif")) break;
  }
  if (take_name("else")) {
    end_tag();
    otherwise = parse_body({"if", at, {"endif"}});
  }
  take();
  end_tag();
  return std::make_unique<If>(at, std::move(branches), std::move(otherwise));
}

StatementPtr Parser::parse_for(Position at) {
  For::Parts parts;
  parts.loop_name = names_.add("loop");
  parts.target = parse_target();
  if (!take_name("in")) unexpected("'in'");
  parts.items = parse_tuple(false);
  if (take_name("if")) parts.condition = parse_expression();
  parts.recursive = take_name("recursive");
  end_tag();
  ++loops_;
  parts.body = parse_body({"for", at, {"else", "endfor"}});
  --loops_;
  if (take_name("else")) {
    end_tag();
    parts.otherwise = parse_body({"for", at, {"endfor"}});
  }
  take();
  end_tag();
  return std::make_unique<For>(at, std::move(parts));
}

StatementPtr Parser::parse_jump(Position at, Flow flow) {
  if (loops_ == 0)
    raise_at(at, flow == Flow::leave_loop ? "'break' outside of a loop" : "'continue' outside of a loop");
  end_tag();
  return std::make_unique<Jump>(at, flow);
}

}  // namespace luce::text::jinja
