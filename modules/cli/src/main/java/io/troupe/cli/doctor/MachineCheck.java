package io.troupe.cli.doctor;

import java.util.List;

/** Looks at one matter of the machine; what it cannot look at is a finding too. */
@FunctionalInterface
public interface MachineCheck {
  List<CheckResult> look();
}
