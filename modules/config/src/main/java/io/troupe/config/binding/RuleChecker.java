package io.troupe.config.binding;

import io.troupe.config.schema.Schema;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The rules between the keys of a {@link Validated} record, as the record states them. A rule one
 * of whose keys is already wrong is passed over: its outcome would mean nothing.
 */
public final class RuleChecker {
  private final String path;
  private final ViolationLog findings;

  RuleChecker(String path, ViolationLog findings) {
    this.path = path;
    this.findings = findings;
  }

  /**
   * States a rule.
   *
   * @param key that is reported, relative to the record
   * @param others that the rule reads too
   */
  public Rule on(String key, String... others) {
    boolean sound = findings.hasNoViolation(Schema.join(path, key));
    return new Rule(
        Schema.join(path, key),
        sound
            && Arrays.stream(others)
                .allMatch(other -> findings.hasNoViolation(Schema.join(path, other))));
  }

  /** A rule of which the keys are known. */
  public final class Rule {
    private final String key;
    private final boolean applicable;

    private Rule(String key, boolean decidable) {
      this.key = key;
      this.applicable = decidable;
    }

    /**
     * Reports the key when the rule does not hold.
     *
     * @param holds asked only when all its keys are sound
     * @param rule as a predicate of the key: "must be a multiple of kv_heads (3)"
     * @param advice the next step, as an imperative
     */
    public void require(BooleanSupplier holds, String rule, String advice) {
      if (applicable && !holds.getAsBoolean()) {
        Optional<ConfigTree.Entry> entry = findings.entry(key);
        String given =
            entry.map(each -> each.value().describe()).orElse("nothing")
                + (entry.isPresent() && entry.get().origin() instanceof ValueOrigin.Default
                    ? " by default"
                    : "");
        findings.add(new ConfigViolation(findings.place(key), key, rule, given, advice));
      }
    }
  }
}
