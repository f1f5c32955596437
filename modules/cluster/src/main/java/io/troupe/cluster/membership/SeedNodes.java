package io.troupe.cluster.membership;

import io.troupe.base.net.HostPort;
import java.util.List;
import java.util.stream.Stream;

/**
 * The members that a process asks to join.
 *
 * @param given seeds of the operator: if member of them refuses, the process ends with the reason
 * @param remembered members met earlier: their addresses may belong to other processes by now, so a
 *     refusal is ignored
 */
public record SeedNodes(List<HostPort> given, List<HostPort> remembered) {
  public SeedNodes {
    List<HostPort> operatorSeeds = List.copyOf(given);
    given = operatorSeeds;
    remembered = remembered.stream().filter(member -> !operatorSeeds.contains(member)).toList();
  }

  /** Seeds without remembered members. */
  public static SeedNodes given(List<HostPort> given) {
    return new SeedNodes(given, List.of());
  }

  boolean isEmpty() {
    return given.isEmpty() && remembered.isEmpty();
  }

  public List<HostPort> all() {
    return Stream.concat(given.stream(), remembered.stream()).toList();
  }
}
