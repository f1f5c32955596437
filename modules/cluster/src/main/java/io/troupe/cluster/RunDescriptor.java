package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import java.util.Map;

/**
 * The facts of a run that a node needs in order to work for it.
 *
 * @param run name of the run
 * @param folder path of the run folder, the same on all hosts that share it
 * @param token written into the folder by the coordinator: a node that reads another token, or
 *     none, has another folder mounted
 * @param configuration the resolved configuration, as YAML
 * @param secret shared secret of the run's processes, in hex
 * @param transfers whether weights travel over the network; otherwise they are in the run folder
 * @param inputs digests of the data and checkpoints that the coordinator has read, by configuration
 *     key; a node compares its own with them
 * @param ranks address where trainer ranks of nodes report to the coordinator; empty if there are
 *     none
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

  /** Returns this descriptor with the address where ranks report. */
  public RunDescriptor withRankRegistry(HostPort address) {
    return new RunDescriptor(
        run, folder, token, configuration, secret, transfers, inputs, address.toString());
  }

  @Override
  public String toString() {
    return "RunDescriptor[%s in %s]".formatted(run, folder);
  }
}
