package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where a process that wants to join knocks.
 *
 * @param given by its operator: if one of them refuses, the process ends with the reason
 * @param remembered from earlier: others may live there by now, so their refusals count for nothing
 */
public record Seeds(List<HostPort> given, List<HostPort> remembered) {
  public Seeds {
    List<HostPort> sure = List.copyOf(given);
    given = sure;
    remembered = remembered.stream().filter(one -> !sure.contains(one)).toList();
  }

  /** Seeds of a process that remembers nobody. */
  public static Seeds given(List<HostPort> given) {
    return new Seeds(given, List.of());
  }

  boolean isEmpty() {
    return given.isEmpty() && remembered.isEmpty();
  }

  List<HostPort> all() {
    return Stream.concat(given.stream(), remembered.stream()).toList();
  }
}
