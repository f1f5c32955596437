package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import java.util.Map;

/**
 * What a node needs to know of the run it works for.
 *
 * @param run its name
 * @param folder the run folder, on all hosts that share it the same path
 * @param token written into the folder by the head: who reads another one, or none, sees another
 *     folder
 * @param configuration resolved, as YAML
 * @param secret what the run's processes prove to each other, in hex
 * @param transfers whether weights come over the network; else they lie in the run folder
 * @param inputs digests of what the head has read of the data and checkpoints that the
 *     configuration names, by what they are; a node holds its own against them
 * @param ranks where trainer ranks of nodes report to the head; empty if there are none
 */
public record RunDescriptor(
    String run,
    String folder,
    String token,
    String configuration,
    String secret,
    boolean transfers,
    Map<String, String> inputs,
    String ranks) {
  public RunDescriptor {
    inputs = Map.copyOf(inputs);
  }

  /** The same of a head where ranks report at an address. */
  public RunDescriptor withRankRegistry(HostPort head) {
    return new RunDescriptor(
        run, folder, token, configuration, secret, transfers, inputs, head.toString());
  }

  @Override
  public String toString() {
    return "Terms[%s in %s]".formatted(run, folder);
  }
}
