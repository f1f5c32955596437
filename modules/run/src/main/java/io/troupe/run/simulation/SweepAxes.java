package io.troupe.run.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * The keys of a sweep and their values.
 *
 * @param values one list a key
 */
record SweepAxes(List<String> keys, List<List<String>> values) {
  private static final int MOST_COMBINATIONS = 500;

  static SweepAxes parse(List<String> axes) throws UnmodelledRunException {
    List<String> keys = new ArrayList<>();
    List<List<String>> values = new ArrayList<>();
    long all = 1;
    for (String axis : axes) {
      int equals = axis.indexOf('=');
      if (equals < 1 || equals == axis.length() - 1) {
        throw new UnmodelledRunException(
            "--sweep takes KEY=VALUE,VALUE…, such as training.max_staleness=0,1,2; not '%s'"
                .formatted(axis));
      }
      keys.add(axis.substring(0, equals));
      values.add(List.of(axis.substring(equals + 1).split(",")));
      all *= values.getLast().size();
    }
    if (all > MOST_COMBINATIONS) {
      throw new UnmodelledRunException(
          "a sweep has at most %d combinations, and this one has %d; give fewer values"
              .formatted(MOST_COMBINATIONS, all));
    }
    return new SweepAxes(keys, values);
  }

  /** Returns all combinations, the last key changing fastest. */
  List<List<String>> combinations() {
    List<List<String>> all = List.of(List.of());
    for (List<String> axis : values) {
      List<List<String>> longer = new ArrayList<>();
      for (List<String> before : all) {
        for (String value : axis) {
          List<String> one = new ArrayList<>(before);
          one.add(value);
          longer.add(one);
        }
      }
      all = longer;
    }
    return all;
  }

  List<String> assignments(List<String> combination) {
    List<String> assignments = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      assignments.add(keys.get(i) + "=" + combination.get(i));
    }
    return assignments;
  }
}
