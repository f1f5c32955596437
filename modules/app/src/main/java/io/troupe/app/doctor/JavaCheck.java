package io.troupe.app.doctor;

import java.util.List;

/** The Java that runs Troupe. */
record JavaCheck(Machine machine) implements Check {
  private static final int NEEDED = 25;
  private static final long LEAST_HEAP = 512L << 20;

  @Override
  public List<Finding> look() {
    String version = machine.property("java.version");
    String detail =
        "%s, %s, %s"
            .formatted(version, machine.property("java.vm.name"), machine.property("java.home"));
    int feature = feature(machine.property("java.specification.version"));
    Finding java =
        feature >= NEEDED
            ? Finding.ok("java", detail)
            : Finding.fail("java", detail, "install a JDK %d or newer".formatted(NEEDED));
    String heap = Bytes.text(machine.heap());
    Finding size =
        machine.heap() >= LEAST_HEAP
            ? Finding.ok("java heap", "at most " + heap)
            : Finding.warn(
                "java heap",
                "at most " + heap,
                "give it %s or more, by -Xmx".formatted(Bytes.text(LEAST_HEAP)));
    return List.of(java, size);
  }

  private static int feature(String version) {
    return version.chars().allMatch(Character::isDigit) && !version.isEmpty()
        ? Integer.parseInt(version)
        : 0;
  }
}
