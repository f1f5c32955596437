package io.troupe.cluster;

/**
 * What a node needs to know of the run it works for.
 *
 * @param run its name
 * @param folder the run folder, on all hosts that share it the same path
 * @param token written into the folder by the head: who reads another one, or none, sees another
 *     folder
 * @param configuration resolved, as YAML
 * @param secret what the run's weight servers ask for, in hex; empty when weights lie in the run
 *     folder
 */
public record Terms(String run, String folder, String token, String configuration, String secret) {
  /** Whether weights come over the network. */
  public boolean transfers() {
    return !secret.isEmpty();
  }

  @Override
  public String toString() {
    return "Terms[%s in %s]".formatted(run, folder);
  }
}
