package io.troupe.core.audit;

/**
 * A promise that a run did not keep.
 *
 * @param record number of the journal's record that breaks it
 * @param what happened, with the group, lease or step it happened to
 */
public record AuditViolation(long record, AuditRule rule, String what) {
  @Override
  public String toString() {
    return "record %d: %s: %s".formatted(record, rule.title(), what);
  }
}
