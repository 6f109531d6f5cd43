#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

/// Whether one of the alternatives comes next; unsure while one of them still can.
Match any_of(const Peek& peek, std::initializer_list<std::string_view> alternatives);

/// Passes one line break: LF or CR LF. No if there is none.
Match pass_line_break(Peek& peek);

/// Bytes of the line break at the end of `text`, of which a part may still be to come: 0, 1 or 2.
size_t line_break_at_end(std::string_view text, bool complete);

/// Drops text that has no place in a call, up to the next of the tags. False when it must wait; `overflow` when there
/// is no tag within reach, and nothing was dropped.
struct JunkSkip {
  bool dropped = false;
  bool overflow = false;
};
JunkSkip skip_to_tag(Incoming& incoming, std::span<const std::string> tags);

}  // namespace luce::completion
