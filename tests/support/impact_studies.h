// Systems that start in the middle of an impact with friction: one to four contacts are closed, with random velocities,
// coefficients and shapes. Some have dependent rows.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct ImpactStudy {
  std::string name, text;
  int contacts = 0;
};

class ImpactStudyWriter {
 public:
  void point(const std::string& name, const std::vector<std::string>& place, const std::string& mass) {
    bodies_ += "[[point]]\nname = \"" + name + "\"\nmass = " + mass + "\nposition = [";
    for (const std::string& x : place) bodies_ += "\"" + x + "\", ";
    bodies_ += "]\nvelocity = [";
    for (std::size_t k = 0; k < place.size(); ++k) bodies_ += random_speed + std::string(", ");
    bodies_ += "]\n";
    system_ = std::string("[system]\ngravity = [0, ") + (place.size() == 3 ? "0, " : "") + "-9.81]\n";
  }
  void coordinate(const std::string& name, const std::string& place) {
    bodies_ += "[[coordinate]]\nname = \"" + name + "\"\nposition = \"" + place +
               "\"\nvelocity = " + random_speed + "\n";
  }
  void energies(const std::string& kinetic, const std::string& height) {
    system_ = "[system]\nkinetic = \"" + kinetic + "\"\npotential = \"9.81*" + height + "\"\n";
  }
  void rod(const std::string& a, const std::string& b, const std::string& length) {
    conditions_ += "[[constraint]]\nname = \"rod_" + a + b + "\"\nrequire = \"distance(" + a + ", " + b +
                   ") == " + length + "\"\n";
  }
  void contact(const std::string& formula, const std::string& slip = "") {
    conditions_ += "[[constraint]]\nname = \"c" + std::to_string(++contacts_) + "\"\nrequire = \"" + formula +
                   "\"\nfriction = \"mu\"\nrestitution = \"e\"\nrestitution_tangential = \"max(w, 0)\"\n";
    if (!slip.empty()) conditions_ += "slip = " + slip + "\n";
  }
  int contacts() const { return contacts_; }
  std::string text() const {
    return "[parameters]\nmu = { uniform = [0, 1.3] }\ne = { uniform = [0, 1] }\nw = { uniform = [-1, 1] }\n"
           "a1 = { uniform = [-1.4, 1.4] }\na2 = { uniform = [-1.5, 1.5] }\n" +
           bodies_ + system_ + conditions_ +
           "[ensemble]\nconsistency = \"project\"\n[time]\nend = 1e-9\nsamples = 2\n";
  }

 private:
  static constexpr const char* random_speed = "{ uniform = [-3, 3] }";
  std::string bodies_, system_, conditions_;
  int contacts_ = 0;
};

inline std::vector<ImpactStudy> planar_impacts() {
  std::vector<ImpactStudy> all;
  const auto add = [&](const std::string& name, auto build) {
    ImpactStudyWriter study;
    build(study);
    all.push_back({name, study.text(), study.contacts()});
  };
  add("RodOnAFloor", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0"}, "1");
    s.point("b", {"cos(a1)", "abs(sin(a1))"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.y >= 0");
  });
  add("Ladder", [](ImpactStudyWriter& s) {
    s.point("a", {"cos(a1)", "0"}, "1");
    s.point("b", {"0", "abs(sin(a1))"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.y >= 0");
    s.contact("b.x >= 0");
  });
  add("FlatRod", [](ImpactStudyWriter& s) {
    s.point("a", {"1", "0"}, "1");
    s.point("b", {"0", "0"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.y >= 0");
    s.contact("b.y >= 0");
  });
  add("Box", [](ImpactStudyWriter& s) {
    s.coordinate("x", "0");
    s.coordinate("y", "0.5");
    s.coordinate("phi", "0");
    s.energies("0.5*(x'^2 + y'^2) + 0.06*phi'^2", "y");
    s.contact("y - 0.3*sin(phi) - 0.5*cos(phi) >= 0", "\"x' + (0.3*sin(phi) + 0.5*cos(phi))*phi'\"");
    s.contact("y + 0.3*sin(phi) - 0.5*cos(phi) >= 0", "\"x' + (0.5*cos(phi) - 0.3*sin(phi))*phi'\"");
  });
  add("Corner", [](ImpactStudyWriter& s) {
    s.point("p", {"0", "0"}, "1");
    s.contact("p.y >= 0");
    s.contact("p.x*sin(a1) + p.y*cos(a1) >= 0");
  });
  add("RodInACorner", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0"}, "1");
    s.point("b", {"cos(a1)", "abs(sin(a1))"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.y >= 0");
    s.contact("a.x >= 0");
  });
  add("Balls", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0"}, "1");
    s.point("b", {"1", "0"}, "2");
    s.point("c", {"0.5", "0.5*sqrt(3)"}, "0.5");
    s.contact("distance(a, b) >= 1");
    s.contact("distance(a, c) >= 1");
    s.contact("distance(b, c) >= 1");
    s.contact("a.y >= 0");
  });
  add("SameContactTwice", [](ImpactStudyWriter& s) {
    s.point("p", {"0", "0"}, "1");
    s.contact("p.y >= 0");
    s.contact("p.y >= 0");
  });
  return all;
}

inline std::vector<ImpactStudy> spatial_impacts() {
  std::vector<ImpactStudy> all;
  const auto add = [&](const std::string& name, auto build) {
    ImpactStudyWriter study;
    build(study);
    all.push_back({name, study.text(), study.contacts()});
  };
  add("CornerInSpace", [](ImpactStudyWriter& s) {
    s.point("p", {"0", "0", "0"}, "1");
    s.contact("p.z >= 0");
    s.contact("p.x + 0.3*p.z >= 0");
    s.contact("p.y*cos(a1) + p.z*sin(a1) >= 0");
  });
  add("RodInSpace", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0", "0"}, "1");
    s.point("b", {"cos(a1)*cos(a2)", "cos(a1)*sin(a2)", "abs(sin(a1))"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.z >= 0");
  });
  add("FlatRodInSpace", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0", "0"}, "1");
    s.point("b", {"cos(a2)", "sin(a2)", "0"}, "2");
    s.rod("a", "b", "1");
    s.contact("a.z >= 0");
    s.contact("b.z >= 0");
  });
  add("Tripod", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0", "0"}, "1");
    s.point("b", {"1", "0", "0"}, "2");
    s.point("c", {"0.3", "0.8", "0"}, "0.5");
    s.rod("a", "b", "1");
    s.rod("a", "c", "sqrt(0.73)");
    s.rod("b", "c", "sqrt(1.13)");
    for (const char* end : {"a", "b", "c"}) s.contact(std::string(end) + ".z >= 0");
  });
  add("BallsInSpace", [](ImpactStudyWriter& s) {
    s.point("a", {"0", "0", "0"}, "1");
    s.point("b", {"1", "0", "0"}, "2");
    s.contact("distance(a, b) >= 1");
    s.contact("a.z >= 0");
    s.contact("b.z >= 0");
  });
  add("Table", [](ImpactStudyWriter& s) {
    for (const char* name : {"x", "y", "z", "a", "b", "g"}) s.coordinate(name, "0");
    s.energies("0.5*(x'^2 + y'^2 + z'^2) + 0.1*a'^2 + 0.15*b'^2 + 0.2*g'^2", "z");
    for (const auto& [x, y] : {std::pair{"0.5", "0.4"}, std::pair{"(-0.5)", "0.4"},
                               std::pair{"(-0.5)", "(-0.4)"}, std::pair{"0.5", "(-0.4)"}})
      s.contact(std::string("z + ") + y + "*a - " + x + "*b >= 0",
                std::string("[\"x' - ") + y + "*g' - 0.3*b'\", \"y' + " + x + "*g' + 0.3*a'\"]");
  });
  return all;
}

}  // namespace zwang
