// The comment at the top of a study, which describes it. Its paragraphs may begin with "Topic:" and
// "Source:".
#pragma once

#include <string>
#include <string_view>

namespace zwang {

// Without the number signs; empty if the study does not begin with a comment.
std::string leading_comment(std::string_view text);

// The first paragraph, and the one that begins with "Source:".
std::string source_comment(std::string_view text);

// The line of the leading comment that begins with "Topic:" or "Source:", without that word; empty if there
// is none.
std::string comment_line(std::string_view text, std::string_view word);

}  // namespace zwang
