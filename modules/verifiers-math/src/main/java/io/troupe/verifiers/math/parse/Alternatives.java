package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Joined;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Several solutions for several unknowns as points: {@code x=0, y=0 \text{ or } x=2, y=4} is {@code
 * (0,0), (2,4)}, in the order of the unknowns' names.
 */
final class Alternatives {
  private Alternatives() {}

  /** The same list; of {@code (m,n)=(1,2), (2,1)} the second point has the names of the first. */
  private static Listing named(Listing list) {
    if (!list.isBare()
        || !(list.items().get(0) instanceof Relation first)
        || !first.is(Sign.EQUAL)
        || !(first.sides().get(0) instanceof Listing names)
        || list.items().size() < 2
        || !list.items().stream().skip(1).allMatch(item -> isPoint(item, names))) {
      return list;
    }
    List<Expr> items = new ArrayList<>(List.of(first));
    for (Expr point : list.items().subList(1, list.items().size())) {
      items.add(new Relation(first.signs(), List.of(names, point)));
    }
    return new Listing(list.open(), list.close(), items, list.joined());
  }

  private static boolean isPoint(Expr item, Listing names) {
    return item instanceof Listing point
        && point.isTuple()
        && point.items().size() == names.items().size();
  }

  /** The same list, or points if "or" is between groups of equations for the same unknowns. */
  static Listing grouped(Listing list, List<Joined> separators) {
    boolean mixed = separators.contains(Joined.OR) && Set.copyOf(separators).size() > 1;
    if (!mixed || !list.isBare()) {
      return named(list);
    }
    List<Expr> points = new ArrayList<>();
    TreeMap<String, Expr> group = new TreeMap<>();
    Set<String> names = Set.of();
    for (int i = 0; i < list.items().size(); i++) {
      if (!(list.items().get(i) instanceof Relation relation)
          || !relation.is(Sign.EQUAL)
          || !(relation.sides().get(0) instanceof Variable(var name))
          || group.putIfAbsent(name, relation.sides().get(1)) != null) {
        return list;
      }
      if (i == separators.size() || separators.get(i) == Joined.OR) {
        if (group.size() < 2 || !(names.isEmpty() || names.equals(group.keySet()))) {
          return list;
        }
        names = Set.copyOf(group.keySet());
        points.add(new Listing('(', ')', List.copyOf(group.values())));
        group.clear();
      }
    }
    return Listing.bare(points);
  }
}
