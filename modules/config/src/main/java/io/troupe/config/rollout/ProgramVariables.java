package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Variables of a program's environment, each {@code NAME=value}. */
final class ProgramVariables {
  private ProgramVariables() {}

  /** The variables by name. */
  static Map<String, String> byName(List<String> variables) {
    Map<String, String> byName = new LinkedHashMap<>();
    for (String each : variables) {
      int equals = each.indexOf('=');
      byName.put(each.substring(0, equals), each.substring(equals + 1));
    }
    return byName;
  }

  /** States the rule of a key that holds variables. */
  static void check(RuleChecker rules, String key, List<String> variables) {
    for (String each : variables) {
      rules
          .on(key)
          .require(
              () -> each.indexOf('=') > 0,
              "must hold NAME=value, not '%s'".formatted(each),
              "write it as NAME=value");
    }
  }
}
