#include "host/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

constexpr double seconds_between_lines = 5;
constexpr double seconds_between_bars = 0.1;
constexpr std::size_t widest_bar = 30, narrowest_bar = 5;

double share(const RunProgress& progress) {
  return progress.of > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.of) : 1;
}

// Rounded down: 100 % means done.
int percent(const RunProgress& progress) { return static_cast<int>(std::floor(100 * share(progress))); }

double rate(const RunProgress& progress) {
  return progress.seconds > 0 ? static_cast<double>(progress.done) / progress.seconds : 0;
}

std::string rate_text(double members_per_second) {
  if (members_per_second >= 100) return count_text(std::llround(members_per_second)) + "/s";
  return fmt::format("{:.3g}/s", members_per_second);
}

std::string left_text(const RunProgress& progress) {
  const double left = static_cast<double>(progress.of - progress.done) / rate(progress);
  return (progress.may_stop_early ? "at most " : "") + duration_text(left) + " left";
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string count_text(long long count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3 && digits.size() > 4;) digits.insert(at -= 3, " ");
  return digits;
}

std::string duration_text(double seconds) {
  constexpr double year = 365.25 * 86400;
  if (!std::isfinite(seconds)) return "a long time";
  if (seconds >= 2 * year) return fmt::format("{:.0f} years", seconds / year);
  const long long whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  constexpr long long day = 86400;
  if (whole < 2 * day) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} days", whole / day);
}

std::string progress_bar(const RunProgress& progress, std::size_t width) {
  std::string text = fmt::format("{:3} %", percent(progress));
  std::vector<std::string> details;  // most important first
  if (progress.failed > 0) details.push_back(count_text(progress.failed) + " failed");
  if (progress.done > 0 && progress.done < progress.of) details.push_back(left_text(progress));
  if (progress.done > 0) details.push_back(rate_text(rate(progress)));
  details.push_back(count_text(progress.done) + " of " + count_text(progress.of));
  for (const std::string& piece : details)
    if (text.size() + 2 + piece.size() <= width) text += "  " + piece;
  if (text.size() > width) return "";

  const std::size_t brackets_and_blank = 3;
  if (text.size() + brackets_and_blank + narrowest_bar > width) return text;
  const std::size_t length = std::min(widest_bar, width - text.size() - brackets_and_blank);
  const auto filled = static_cast<std::size_t>(share(progress) * static_cast<double>(length));
  return "[" + std::string(filled, '#') + std::string(length - filled, '.') + "] " + text;
}

std::string progress_line(const RunProgress& progress) {
  std::string text = fmt::format("{} of {} members ({} %), {}", count_text(progress.done),
                                 count_text(progress.of), percent(progress), rate_text(rate(progress)));
  if (progress.done > 0 && progress.done < progress.of) text += ", " + left_text(progress);
  if (progress.failed > 0) text += ", " + count_text(progress.failed) + " failed";
  return text;
}

ProgressDisplay::ProgressDisplay(std::FILE* stream, bool silent)
    : ProgressDisplay(stream, silent                        ? Kind::silent
                              : isatty(fileno(stream)) != 0 ? Kind::bar
                                                            : Kind::lines) {}

void ProgressDisplay::show(const RunProgress& progress) {
  if (kind_ == Kind::silent) return;
  const double since = progress.seconds - shown_at_;
  if (kind_ == Kind::lines) {
    if (since < seconds_between_lines || progress.done == progress.of) return;
    fmt::print(stream_, "zwang: {}\n", progress_line(progress));
  } else {
    if (bar_shown_ && since < seconds_between_bars && progress.done < progress.of) return;
    // One column is left free: a full line would wrap on some terminals.
    const std::size_t width = terminal_width(stream_) - 1;
    fmt::print(stream_, "\r\x1b[K{}", progress_bar(progress, width));
    bar_shown_ = true;
  }
  shown_at_ = progress.seconds;
  std::fflush(stream_);
}

DelayedLine::DelayedLine(const ProgressDisplay& display, std::string text)
    : DelayedLine(display.kind() == ProgressDisplay::Kind::silent ? nullptr : display.stream(),
                  std::move(text), std::chrono::seconds(1)) {}

DelayedLine::DelayedLine(std::FILE* stream, std::string text, std::chrono::milliseconds delay) {
  if (stream == nullptr) return;
  thread_ = std::jthread([this, stream, delay, text = std::move(text)](const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    never_.wait_for(lock, stop, delay, [] { return false; });
    if (stop.stop_requested()) return;
    fmt::print(stream, "zwang: {}\n", text);
    std::fflush(stream);
  });
}

void ProgressDisplay::clear() {
  if (!bar_shown_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  bar_shown_ = false;
}

}  // namespace zwang
