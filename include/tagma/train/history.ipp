// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of history.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>

#include "tagma/base/config.hpp"
#include "tagma/train/history.hpp"

namespace tagma {

namespace detail {

TAGMA_COLD TAGMA_DECL std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Text between the tags of XML.
TAGMA_COLD TAGMA_DECL std::string xml_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>')
      made += c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;";
    else
      made += c;
  }
  return made;
}

TAGMA_COLD TAGMA_DECL svg_panel::svg_panel(const training_history& of, std::size_t report, double top)
    : of_(of), report_(report), top_(top) {
  for (const bool validation : {false, true})
    for (std::size_t e = 0; e < of.epochs.size(); ++e) {
      const double v = value(e, validation);
      if (__builtin_isfinite(v)) least_ = std::min(least_, v), most_ = std::max(most_, v);
    }
  if (!(least_ <= most_)) least_ = 0, most_ = 1;
  if (least_ == most_) least_ -= 0.5, most_ += 0.5;
}

TAGMA_COLD TAGMA_DECL std::string svg_panel::text() const {
  std::string made = "<text x=\"60\" y=\"" + short_number(top_ + 20) + "\" font-weight=\"bold\">" +
                     xml_text(of_.names[report_]) + "</text>\n";
  for (const double v : {least_, least_ / 2 + most_ / 2, most_}) {
    const std::string y = short_number(y_of(v));
    made += "<path d=\"M60 " + y + "H460\" stroke=\"#ddd\"/>\n<text x=\"54\" y=\"" + y +
            "\" dy=\"4\" text-anchor=\"end\">" + short_number(v) + "</text>\n";
  }
  const std::size_t count = of_.epochs.size();
  if (count > 0) made += epoch_text(0);
  if (count > 1) made += epoch_text(count - 1);
  return made + curve(false, "#1f77b4") + curve(true, "#ff7f0e") + best();
}

TAGMA_COLD TAGMA_DECL double svg_panel::value(std::size_t epoch, bool validation) const {
  const std::vector<double>& all = validation ? of_.epochs[epoch].validation : of_.epochs[epoch].training;
  return report_ < all.size() ? all[report_] : std::numeric_limits<double>::quiet_NaN();
}

TAGMA_COLD TAGMA_DECL double svg_panel::x_of(std::size_t epoch) const {
  const double steps = static_cast<double>(of_.epochs.size()) - 1;
  return 70 + (steps > 0 ? 380 * static_cast<double>(epoch) / steps : 190);
}

TAGMA_COLD TAGMA_DECL double svg_panel::y_of(double v) const {
  // Halves, since the difference of two doubles may not be one.
  return top_ + 215 - 180 * ((v / 2 - least_ / 2) / (most_ / 2 - least_ / 2));
}

TAGMA_COLD TAGMA_DECL std::string svg_panel::epoch_text(std::size_t e) const {
  return "<text x=\"" + short_number(x_of(e)) + "\" y=\"" + short_number(top_ + 232) + "\" text-anchor=\"middle\">" +
         std::to_string(of_.epochs[e].number) + "</text>\n";
}

TAGMA_COLD TAGMA_DECL std::string svg_panel::curve(bool validation, const char* colour) const {
  std::string points;
  bool open = false;
  for (std::size_t e = 0; e < of_.epochs.size(); ++e) {
    const double v = value(e, validation);
    // A line of no length, too, since of a single point there would be nothing to see.
    if (__builtin_isfinite(v))
      points += (open ? "L" : "M") + short_number(x_of(e)) + " " + short_number(y_of(v)) + (open ? "" : "h.1");
    open = __builtin_isfinite(v);
  }
  if (points.empty()) return points;
  return "<path d=\"" + points + "\" fill=\"none\" stroke=\"" + colour +
         "\" stroke-width=\"2\" stroke-linecap=\"round\"/>\n";
}

TAGMA_COLD TAGMA_DECL std::string svg_panel::best() const {
  if (of_.best < 0 || static_cast<std::size_t>(of_.best) >= of_.epochs.size()) return {};
  const auto e = static_cast<std::size_t>(of_.best);
  const bool validated = __builtin_isfinite(value(e, true));
  const double v = value(e, validated);
  if (!__builtin_isfinite(v)) return {};
  return "<circle cx=\"" + short_number(x_of(e)) + "\" cy=\"" + short_number(y_of(v)) + "\" r=\"4\" fill=\"" +
         (validated ? "#ff7f0e" : "#1f77b4") + "\"/>\n";
}

}  // namespace detail

TAGMA_COLD TAGMA_DECL std::string training_history::svg() const {
  const std::string height = std::to_string(names.size() * 240 + 30);
  std::string made =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"" + height + "\" viewBox=\"0 0 480 " + height +
      "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  double top = 0;
  for (std::size_t report = 0; report < names.size(); ++report, top += 240)
    made += detail::svg_panel(*this, report, top).text();
  return made + "<text x=\"60\" y=\"" + detail::short_number(top + 18) +
         "\"><tspan fill=\"#1f77b4\">training</tspan> <tspan fill=\"#ff7f0e\">validation</tspan> over "
         "epochs</text>\n</svg>\n";
}

}  // namespace tagma
