// Rows that tie a body to its parent, and the laws of each joint coordinate.
#include "host/import/write_joints.h"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "host/import/formula_text.h"
#include "host/import/joint_group.h"
#include "host/import/mechanism.h"
#include "host/import/study_draft.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// An angle in space is known up to whole turns: limits need a gap that is clearly open.
constexpr double widest_half_range = 3.1;

// A joint coordinate as formulas. An angle in space is atan2(sine, cosine).
struct CoordinateText {
  SumText value, rate;
  SumText sine, cosine;
  bool turns_in_space = false;

  // With a number added.
  std::string text(double more = 0) const {
    SumText made = value;
    if (turns_in_space) made.add(1, "atan2(" + sine.text() + ", " + cosine.text() + ")");
    made.add(more);
    return made.text();
  }
};

class JointWriter {
 public:
  JointWriter(const Mechanism& mechanism, std::size_t index, StudyDraft& draft)
      : body_(mechanism.bodies[index]),
        draft_(draft),
        axes_(draft.axes),
        group_(joint_group(body_, axes_.planar())) {
    name_ = body_.freedoms.size() == 1 ? body_.freedoms[0].name : body_.name + "_joint";
    child_.body = draft_.bodies[index].name;
    child_.place = draft_.bodies[index].place(name_, axes_.point(body_, group_.centre));
    const Eigen::Vector3d on_parent = body_.zero.at(group_.centre);
    if (body_.parent == world_body) {
      parent_.anchor = axes_.in_world(on_parent);
    } else {
      parent_body_ = &mechanism.bodies[body_.parent];
      parent_.body = draft_.bodies[body_.parent].name;
      parent_.place = draft_.bodies[body_.parent].place(name_, axes_.point(*parent_body_, on_parent));
    }
  }

  void write() {
    write_rows();
    for (const Freedom* slide : group_.slides) write_freedom(*slide, slide_text(*slide));
    if (group_.ball) write_ball(*group_.ball);
    if (group_.hinges.size() < 3)
      for (const Freedom* hinge : group_.hinges) write_freedom(*hinge, hinge_text(*hinge));
    else
      omit_laws_of_three_hinges();
  }

 private:
  // A direction in the frame of the body, in the axes of the study's body, and of its parent where all positions are 0.
  Eigen::VectorXd on_child(const Eigen::Vector3d& v) const { return axes_.direction(body_, v); }
  Eigen::VectorXd on_parent(const Eigen::Vector3d& v) const {
    const Eigen::Vector3d turned = body_.zero.turn * v;
    return parent_body_ ? axes_.direction(*parent_body_, turned) : axes_.in_world(turned);
  }

  // --- Rows ---

  std::string parent_place() {
    if (!parent_.place.empty()) return parent_.place;
    parent_.place = draft_.names.give(name_ + "_anchor");
    draft_.anchors += "[[anchor]]\nname = \"" + parent_.place +
                      "\"\nposition = " + list_of_numbers(parent_.anchor) + "\n\n";
    return parent_.place;
  }

  void write_link(const char* type, const std::string& more) {
    const std::string name = draft_.conditions.give(name_);
    const std::string first = parent_place();
    draft_.links += "[[link]]\nname = \"" + name + "\"\ntype = \"" + type + "\"\nbetween = [\"" + first +
                    "\", \"" + child_.place + "\"]\n" + more + "\n";
  }

  // Dry friction of a link with one freedom is its limit.
  std::string dry_key() const {
    const double friction = body_.freedoms[0].friction;
    return friction > 0 ? "limit = " + number_text(friction) + "\n" : "";
  }

  void write_rows() {
    const std::size_t slides = group_.slides.size(), rotations = group_.rotations();
    linked_ = body_.freedoms.size() == 1 && !group_.ball;
    if (slides == 0 && rotations == 1) {
      const Eigen::Vector3d& axis = group_.hinges[0]->axis;
      write_link("hinge", (axes_.planar() ? ""
                                          : "axis = " + list_of_numbers(on_parent(axis)) +
                                                "\naxis_b = " + list_of_numbers(on_child(axis)) + "\n") +
                              dry_key());
    } else if (slides == 1 && rotations == 0) {
      write_link("slider", "axis = " + list_of_numbers(on_parent(group_.slides[0]->axis)) + "\n" + dry_key());
    } else {
      if (slides == 0)
        write_link("ball", "");
      else
        write_offset_rows();
      write_rotation_rows();
    }
  }

  void equation(const SumText& value) { draft_.add_constraint(name_, value.text() + " == 0"); }

  // No offset across the slides.
  void write_offset_rows() {
    std::vector<Eigen::Vector3d> kept;
    for (const Freedom* slide : group_.slides) kept.push_back(slide->axis);
    if (axes_.planar()) kept.push_back(body_.rest.turn.transpose() * axes_.plane()->normal);
    while (kept.size() < 3) {
      // Another direction across those that are left out already.
      Eigen::Vector3d across =
          kept.size() == 2 ? Eigen::Vector3d(kept[0].cross(kept[1])) : kept[0].unitOrthogonal();
      across.normalize();
      kept.push_back(across);
      equation(group_.slides_first ? offset_text(parent_, on_parent(across), child_)
                                   : offset_text(child_, on_child(across), parent_));
    }
  }

  void write_rotation_rows() {
    const std::size_t rotations = group_.rotations();
    if (rotations == 3) return;
    if (axes_.planar()) {
      if (rotations == 0) equation(angle_difference(""));
      return;
    }
    if (rotations == 2) {
      const Eigen::Vector3d &first = group_.hinges[0]->axis, &second = group_.hinges[1]->axis;
      equation(dot_text(parent_, on_parent(first), child_, on_child(second)));
      return;
    }
    // Entries of the relative rotation that vanish to first order.
    for (Eigen::Index k = 0; k < 3; ++k) {
      Eigen::Vector3d u = Eigen::Vector3d::Unit(k), v = Eigen::Vector3d::Unit((k + 1) % 3);
      if (rotations == 1) {
        if (k == 2) break;
        u = group_.hinges[0]->axis;
        v = k == 0 ? reference(u) : Eigen::Vector3d(u.cross(reference(u)));
      }
      equation(dot_text(parent_, on_parent(u), child_, on_child(v)));
    }
  }

  // --- Coordinates ---

  // A direction across an axis, along an axis of the frame where that is possible.
  static Eigen::Vector3d reference(const Eigen::Vector3d& axis) {
    Eigen::Index smallest = 0;
    axis.cwiseAbs().minCoeff(&smallest);
    // Of an axis along z it is x: the first of the smallest entries.
    const Eigen::Vector3d e = Eigen::Vector3d::Unit(smallest);
    return (e - axis.dot(e) * axis).normalized();
  }

  // Angle of the body less that of its parent, in the plane.
  SumText angle_difference(const char* prime) const {
    SumText made(1, child_.body + ".angle" + prime);
    if (!parent_.body.empty()) made.add(-1, parent_.body + ".angle" + prime);
    return made;
  }

  CoordinateText slide_text(const Freedom& slide) const {
    CoordinateText made;
    if (group_.slides_first) {
      made.value = offset_text(parent_, on_parent(slide.axis), child_);
      made.rate = offset_rate_text(parent_, on_parent(slide.axis), child_);
    } else {
      made.value.add(-1, offset_text(child_, on_child(slide.axis), parent_));
      made.rate.add(-1, offset_rate_text(child_, on_child(slide.axis), parent_));
    }
    return made;
  }

  CoordinateText hinge_text(const Freedom& hinge) const {
    CoordinateText made;
    const Eigen::Vector3d& a = hinge.axis;
    if (axes_.planar()) {
      made.value.add(axes_.sense(body_, hinge), angle_difference(""));
      made.rate.add(axes_.sense(body_, hinge), angle_difference("'"));
      return made;
    }
    made.turns_in_space = true;
    const bool outer = &hinge == group_.hinges.front(), inner = &hinge == group_.hinges.back();
    if (outer) {
      // A direction of the body across the axis, seen from the parent. Of two hinges the axis of the second is one: it
      // is turned by the first alone.
      const Eigen::Vector3d v = inner ? reference(a) : group_.hinges[1]->axis;
      made.cosine = dot_text(parent_, on_parent(v), child_, on_child(v));
      made.sine = dot_text(parent_, on_parent(a.cross(v)), child_, on_child(v));
    } else {
      // The axis of the first hinge, fixed on the parent, seen from the body: it turns backwards.
      const Eigen::Vector3d& u = group_.hinges[0]->axis;
      made.cosine = dot_text(parent_, on_parent(u), child_, on_child(u));
      made.sine.add(-1, dot_text(parent_, on_parent(u), child_, on_child(a.cross(u))));
    }
    // The axis is fixed on the parent if it is the first, on the body if it is the last.
    if (inner) {
      made.rate = spin_text(child_, child_, on_child(a));
      made.rate.add(
          -1, outer ? spin_text(parent_, parent_, on_parent(a)) : spin_text(parent_, child_, on_child(a)));
    } else {
      made.rate = spin_text(child_, parent_, on_parent(a));
      made.rate.add(-1, spin_text(parent_, parent_, on_parent(a)));
    }
    return made;
  }

  // --- Laws of a coordinate ---

  void write_freedom(const Freedom& freedom, const CoordinateText& coordinate) {
    const std::string shown = coordinate.text(freedom.offset);
    draft_.add_observable(freedom.name, shown);
    draft_.add_observable(freedom.name + "_rate", coordinate.rate.text());
    write_limits(freedom, coordinate);
    if (freedom.damping > 0) {
      if (freedom.kind == FreedomKind::slide)
        write_slide_damping(freedom, coordinate);
      else
        write_hinge_damping(freedom, coordinate);
    }
    if (freedom.friction > 0 && !linked_)
      draft_.add_constraint(freedom.name + "_friction", coordinate.rate.text() + " == 0",
                            "limit = " + number_text(freedom.friction) + "\n");
    if (freedom.stiffness > 0) write_spring(freedom, coordinate);
  }

  void write_limits(const Freedom& freedom, const CoordinateText& coordinate) {
    if (!freedom.lower || !freedom.upper) return;
    if (!coordinate.turns_in_space) {
      draft_.add_constraint(freedom.name + "_lower",
                            coordinate.text() + " >= " + number_text(*freedom.lower));
      draft_.add_constraint(freedom.name + "_upper",
                            coordinate.text() + " <= " + number_text(*freedom.upper));
      return;
    }
    // cos(angle - middle) >= cos(half), divided by sin(half): its multiplier is then the torque at the limit.
    const double middle = 0.5 * (*freedom.lower + *freedom.upper),
                 half = 0.5 * (*freedom.upper - *freedom.lower);
    if (half >= widest_half_range) {
      draft_.left_out.push_back("limits of joint '" + freedom.name + "': " + number_text(2 * half) +
                                " radians are a full turn or nearly so, and turns are not counted in space");
      return;
    }
    SumText swing;
    swing.add(std::cos(middle) / std::sin(half), coordinate.cosine);
    swing.add(std::sin(middle) / std::sin(half), coordinate.sine);
    draft_.add_constraint(freedom.name + "_limits",
                          swing.text() + " >= " + number_text(tidy_number(std::cos(half) / std::sin(half))));
  }

  // -d * rate, on the body along the slide and on its parent against it.
  void write_slide_damping(const Freedom& freedom, const CoordinateText& coordinate) {
    const bool moving_parent = !parent_.body.empty();
    if (moving_parent && body_.freedoms.size() > 1) {
      draft_.left_out.push_back("damping of joint '" + freedom.name +
                                "', one of several joints on a moving body");
      return;
    }
    const JointSide& fixed = group_.slides_first ? parent_ : child_;
    const Eigen::VectorXd axis = group_.slides_first ? on_parent(freedom.axis) : on_child(freedom.axis);
    const auto force = [&](double factor) {
      std::string made;
      for (Eigen::Index k = 0; k < axes_.dimension(); ++k) {
        const SumText along = dot_text(fixed, axis, JointSide{}, Eigen::VectorXd::Unit(axes_.dimension(), k));
        made += (k > 0 ? ", " : "") + product(factor * freedom.damping, along, coordinate.rate);
      }
      return made;
    };
    const auto entry = [&](const std::string& place, double factor) {
      draft_.forces += "[[force]]\non = \"" + place + "\"\nvector = [" + force(factor) + "]\n\n";
    };
    entry(child_.place, -1);
    if (moving_parent) entry(parent_.place, 1);
  }

  // "\"-2*arm.ex.x*(rate)\"", or 0.
  static std::string product(double factor, const SumText& direction, const SumText& rate) {
    if (direction.is_number()) {
      const double whole = tidy_number(factor * tidy_number(direction.number()));
      return whole == 0 ? "0" : "\"" + number_text(whole) + "*" + rate.factor_text() + "\"";
    }
    return "\"" + number_text(factor) + "*" + direction.factor_text() + "*" + rate.factor_text() + "\"";
  }

  void write_hinge_damping(const Freedom& freedom, const CoordinateText& coordinate) {
    const double d = freedom.damping;
    if (axes_.planar()) {
      const std::string rate = angle_difference("'").factor_text();
      draft_.add_load(child_.body + ".angle", "-" + number_text(d) + "*" + rate);
      if (!parent_.body.empty()) draft_.add_load(parent_.body + ".angle", number_text(d) + "*" + rate);
      return;
    }
    const bool outer = &freedom == group_.hinges.front(), inner = &freedom == group_.hinges.back();
    const auto add = [&](const JointSide& side, double factor, bool axis_fixed_on_it,
                         const Eigen::VectorXd& own, const JointSide& other, const Eigen::VectorXd& others) {
      if (side.body.empty()) return;
      for (Eigen::Index k = 0; k < 3; ++k) {
        const SumText along =
            axis_fixed_on_it ? SumText(own(k)) : dot_text(side, Eigen::Vector3d::Unit(k), other, others);
        const std::string text = product(factor * d, along, coordinate.rate);
        if (text != "0") draft_.add_load(side.body + ".w" + "xyz"[k], text.substr(1, text.size() - 2));
      }
    };
    const Eigen::VectorXd a = on_child(freedom.axis), b = on_parent(freedom.axis);
    add(child_, -1, inner, a, parent_, b);
    add(parent_, 1, outer, b, child_, a);
  }

  void write_spring(const Freedom& freedom, const CoordinateText& coordinate) {
    const std::string stretch = coordinate.text(-freedom.relaxed);
    draft_.potential += (draft_.potential.empty() ? "" : " + ") + number_text(0.5 * freedom.stiffness) +
                        "*(" + stretch + ")^2";
    if (coordinate.turns_in_space)
      draft_.notes.push_back("the spring of joint '" + freedom.name +
                             "' counts its angle within half a turn");
  }

  // --- Ball joints ---

  void write_ball(const Freedom& ball) {
    SumText trace;  // 1 + 2 cos(rotation)
    for (Eigen::Index k = 0; k < 3; ++k) {
      const Eigen::Vector3d e = Eigen::Vector3d::Unit(k);
      trace.add(1, dot_text(parent_, on_parent(e), child_, on_child(e)));
    }
    draft_.add_observable(ball.name, "acos(max(-1, min(1, 0.5*(" + trace.text() + ") - 0.5)))");
    if (ball.upper && *ball.upper < widest_half_range) {
      SumText scaled;
      scaled.add(0.5 / std::sin(*ball.upper), trace);
      draft_.add_constraint(
          ball.name + "_limit",
          scaled.text() + " >= " + number_text((0.5 + std::cos(*ball.upper)) / std::sin(*ball.upper)));
    } else if (ball.upper && *ball.upper < std::numbers::pi) {
      draft_.left_out.push_back("limit of joint '" + ball.name + "': nearly half a turn");
    }
    if (ball.damping > 0) {
      for (const auto& [own, other] : {std::pair(child_, parent_), std::pair(parent_, child_)}) {
        if (own.body.empty()) continue;
        for (Eigen::Index k = 0; k < 3; ++k) {
          SumText rate = spin_text(own, own, Eigen::Vector3d::Unit(k));
          rate.add(-1, spin_text(other, own, Eigen::Vector3d::Unit(k)));
          draft_.add_load(own.body + ".w" + "xyz"[k],
                          "-" + number_text(ball.damping) + "*" + rate.factor_text());
        }
      }
    }
    if (ball.friction > 0) draft_.left_out.push_back("dry friction of the ball joint '" + ball.name + "'");
    if (ball.stiffness > 0) draft_.left_out.push_back("spring of the ball joint '" + ball.name + "'");
  }

  // Three hinges at right angles through one point leave every rotation free.
  void omit_laws_of_three_hinges() {
    for (const Freedom* hinge : group_.hinges)
      if (hinge->lower || hinge->damping > 0 || hinge->friction > 0 || hinge->stiffness > 0)
        draft_.left_out.push_back("limits, damping, friction and spring of joint '" + hinge->name +
                                  "', one of three hinges that together are a ball joint");
    draft_.notes.push_back("the three hinges of body '" + body_.name + "' are written as a ball joint");
  }

  const MechanismBody& body_;
  const MechanismBody* parent_body_ = nullptr;  // none: the world
  StudyDraft& draft_;
  const StudyAxes& axes_;
  JointGroup group_;
  std::string name_;
  JointSide parent_, child_;
  bool linked_ = false;  // written as a link that has the dry friction
};

}  // namespace

void write_joints(const Mechanism& mechanism, StudyDraft& draft) {
  for (std::size_t i = 0; i < mechanism.bodies.size(); ++i) {
    const MechanismBody& body = mechanism.bodies[i];
    if (!body.free) {
      JointWriter(mechanism, i, draft).write();
      continue;
    }
    const std::string& name = draft.bodies[i].name;
    for (Eigen::Index k = 0; k < 3; ++k) draft.add_observable(name + "_" + "xyz"[k], component_word(name, k));
  }
}

}  // namespace zwang
