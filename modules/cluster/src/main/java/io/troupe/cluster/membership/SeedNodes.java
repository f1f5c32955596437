package io.troupe.cluster.membership;

import io.troupe.base.net.HostPort;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where a process that wants to join knocks.
 *
 * @param given by its operator: if one of them refuses, the process ends with the reason
 * @param remembered from earlier: others may live there by now, so their refusals count for nothing
 */
public record SeedNodes(List<HostPort> given, List<HostPort> remembered) {
  public SeedNodes {
    List<HostPort> sure = List.copyOf(given);
    given = sure;
    remembered = remembered.stream().filter(one -> !sure.contains(one)).toList();
  }

  /** Seeds of a process that remembers nobody. */
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
