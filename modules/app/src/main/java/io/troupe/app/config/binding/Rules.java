package io.troupe.app.config.binding;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Where a {@link Checked} record states the rules between its keys. A rule one of whose keys is
 * already wrong is passed over: its outcome would mean nothing.
 */
public final class Rules {
  private final String path;
  private final Findings findings;

  Rules(String path, Findings findings) {
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
    boolean sound = findings.isSound(Schema.join(path, key));
    return new Rule(
        Schema.join(path, key),
        sound
            && Arrays.stream(others).allMatch(other -> findings.isSound(Schema.join(path, other))));
  }

  /** A rule of which the keys are known. */
  public final class Rule {
    private final String key;
    private final boolean decidable;

    private Rule(String key, boolean decidable) {
      this.key = key;
      this.decidable = decidable;
    }

    /**
     * Reports the key when the rule does not hold.
     *
     * @param holds asked only when all its keys are sound
     * @param rule as a predicate of the key: "must be a multiple of kv_heads (3)"
     * @param advice what to do, as an imperative
     */
    public void require(BooleanSupplier holds, String rule, String advice) {
      if (decidable && !holds.getAsBoolean()) {
        Optional<Tree.Entry> entry = findings.entry(key);
        String given =
            entry.map(each -> each.value().describe()).orElse("nothing")
                + (entry.isPresent() && entry.get().origin() instanceof Origin.Default
                    ? " by default"
                    : "");
        findings.add(new Violation(findings.place(key), key, rule, given, advice));
      }
    }
  }
}
