package io.troupe.cli.doctor;

import java.util.List;

/** The Java that runs Troupe. */
record JavaCheck(Machine machine) implements MachineCheck {
  private static final int NEEDED = 25;
  private static final long LEAST_HEAP = 512L << 20;

  @Override
  public List<CheckResult> look() {
    String version = machine.property("java.version");
    String detail =
        "%s, %s, %s"
            .formatted(version, machine.property("java.vm.name"), machine.property("java.home"));
    int feature = feature(machine.property("java.specification.version"));
    CheckResult java =
        feature >= NEEDED
            ? CheckResult.ok("java", detail)
            : CheckResult.fail("java", detail, "install a JDK %d or newer".formatted(NEEDED));
    String heap = ByteText.text(machine.heap());
    CheckResult size =
        machine.heap() >= LEAST_HEAP
            ? CheckResult.ok("java heap", "at most " + heap)
            : CheckResult.warn(
                "java heap",
                "at most " + heap,
                "give it %s or more, by -Xmx".formatted(ByteText.text(LEAST_HEAP)));
    return List.of(java, size);
  }

  private static int feature(String version) {
    return version.chars().allMatch(Character::isDigit) && !version.isEmpty()
        ? Integer.parseInt(version)
        : 0;
  }
}
