#include "host/files/summary_sweeps.h"

#include <algorithm>

#include "host/files/write_origin.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

namespace {

using Json = SummaryJson;

bool is_text(const Json& json) {
  return json.is_string() || (json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& one) {
                                return one.is_string();
                              }));
}

}  // namespace

// Objects of the same keys, one for each point, become one object of arrays by point. Names are not repeated.
SummaryJson json_by_point(const std::vector<const SummaryJson*>& points) {
  const bool objects =
      std::any_of(points.begin(), points.end(), [](const Json* one) { return one->is_object(); });
  if (objects) {
    Json made = Json::object();
    for (const Json* point : points)
      for (const auto& [key, value] : point->items()) {
        if (made.contains(key)) continue;
        static const Json none;
        std::vector<const Json*> values;
        for (const Json* one : points)
          values.push_back(one->is_object() && one->contains(key) ? &(*one)[key] : &none);
        made[key] = json_by_point(values);
      }
    return made;
  }
  if ((is_text(*points.front()) || points.front()->is_null()) &&
      std::all_of(points.begin(), points.end(), [&](const Json* one) { return *one == *points.front(); }))
    return *points.front();
  Json made = Json::array();
  for (const Json* point : points) made.push_back(*point);
  return made;
}

SummaryJson sweep_json(const Study& study) {
  Json json{{"names", Json::array()},
            {"dimensions", sweep_dimensions(study)},
            {"values", Json::array()},
            {"shape", Json::array()},
            {"scales", Json::array()}};
  for (const Sweep& sweep : study.sweeps) {
    json["names"].push_back(sweep.name);
    json["values"].push_back(sweep.values);
    json["shape"].push_back(sweep.values.size());
    json["scales"].push_back(sweep.logarithmic ? "log" : "linear");
  }
  json["points"] = study.ensemble.points();
  json["members_per_point"] = study.ensemble.members_per_point;
  json["streams"] = study.ensemble.streams == Streams::common ? "common" : "independent";
  return json;
}

// The members of the points.
SummaryJson members_by_point(const Study& study, const RunResult& result) {
  // The rows of pick-freeze have a member in each block.
  const long long blocks = study.sensitivity ? static_cast<long long>(study.sensitivity->blocks()) : 1;
  Json json{{"integrated", Json::array()},
            {"entered", Json::array()},
            {"failed", Json::array()},
            {"met_until", Json::array()}};
  for (const StatisticsResult& point : result.points) {
    json["integrated"].push_back(point.members * blocks);
    json["entered"].push_back(point.entered);
    json["failed"].push_back(point.failed);
    json["met_until"].push_back(point.met_until);
  }
  return json;
}

}  // namespace zwang
