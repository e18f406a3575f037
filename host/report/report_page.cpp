// Assembles the HTML page from template, style, scripts and data.
#include "host/report/report_page.h"

#include <unistd.h>

#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/report/report_data.h"
#include "host/report/report_text.h"

namespace zwang {

namespace {

std::string files_ending(std::string_view ending) {
  std::string made;
  for (const ReportFile& file : report_files())
    if (file.name.ends_with(ending)) made += file.text;
  return made;
}

// Escapes text between tags.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '<')
      made += "&lt;";
    else if (c == '>')
      made += "&gt;";
    else if (c == '&')
      made += "&amp;";
    else if (c == '"')
      made += "&quot;";
    else
      made += c;
  }
  return made;
}

// JSON inside a script element, escaped so that text of a study cannot begin a tag or comment.
std::string embedded(const ReportJson& data) {
  std::string made;
  for (const char c : data.dump(-1, ' ', true, ReportJson::error_handler_t::replace)) {
    if (c == '<' || c == '>' || c == '&') {
      constexpr const char* digits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(c);
      made += std::string("\\u00") + digits[code / 16] + digits[code % 16];
    } else {
      made += c;
    }
  }
  return made;
}

// Inserts all parts in one pass, so that a placeholder inside a part is not replaced.
std::string filled(std::string_view page, const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string made;
  std::size_t at = 0;
  while (at < page.size()) {
    std::size_t next = page.size();
    const std::pair<std::string, std::string>* part = nullptr;
    for (const auto& candidate : parts)
      if (const std::size_t found = page.find(candidate.first, at); found < next) {
        next = found;
        part = &candidate;
      }
    made += page.substr(at, next - at);
    if (part == nullptr) break;
    made += part->second;
    at = next + part->first.size();
  }
  return made;
}

}  // namespace

std::string report_page(const std::filesystem::path& folder) {
  const ReportSource source(folder);
  const std::string title = source.study.title.empty() ? source.study.name : source.study.title;
  return filled(files_ending("page.html"), {{"{{title}}", escaped(title)},
                                            {"{{style}}", files_ending(".css")},
                                            {"{{script}}", files_ending(".js")},
                                            {"{{data}}", embedded(report_data(source))}});
}

void write_report(const std::filesystem::path& folder, const std::filesystem::path& to) {
  const std::string page = report_page(folder);
  const std::filesystem::path part = to.string() + "." + std::to_string(::getpid()) + ".part";
  std::error_code code;
  std::filesystem::remove(part, code);
  const int failed = write_new(part, page, 0644, true);
  if (failed == 0) std::filesystem::rename(part, to, code);
  if (failed == 0 && !code) return;
  const std::string why = failed != 0 ? system_message(failed) : code.message();
  std::filesystem::remove(part, code);
  throw MachineError({.where = {to.string(), 0, 0},
                      .message = "the report could not be written",
                      .found = why,
                      .expected = "a folder that can be written to"});
}

}  // namespace zwang
