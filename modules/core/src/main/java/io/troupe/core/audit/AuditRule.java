package io.troupe.core.audit;

/** The promises of a run that an audit checks. */
public enum AuditRule {
  /** S1: no token staler than the bound gets loss weight. */
  STALENESS("S1 staleness"),
  /** S2: every admitted prompt ends once an epoch, or is still pending. */
  EXACTLY_ONCE("S2 exactly once"),
  /** S2: an answer counts only under the lease that is current; no fence is used twice. */
  FENCING("S2 fencing"),
  /** The numbers of admitted, ended and pending groups, and of leases, add up. */
  COUNTS("counts"),
  /** Weight versions step by one. */
  VERSIONS("versions"),
  /** S3: what infrastructure fails costs no prompt, and no failure is reported as a success. */
  OUTAGES("S3 outages"),
  /** A run continues from a state that it was in. */
  RESUME("resume"),
  /** No lease and no step begins in a run that drains or has ended. */
  PHASES("phases"),
  /** Every record that was written can be read. */
  JOURNAL("journal");

  private final String title;

  AuditRule(String title) {
    this.title = title;
  }

  /** The name of the rule in a table. */
  public String title() {
    return title;
  }
}
