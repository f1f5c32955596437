package io.troupe.console.process;

import java.util.List;
import java.util.Map;

/**
 * The report of a process of a run about itself.
 *
 * @param jvm name of the process: {@code coordinator}, a node's, or a worker's
 * @param role role of the process in the run: {@code coordinator}, {@code node} or {@code worker}
 * @param node the node that it belongs to; "" for the coordinator
 * @param gauges of the process and its machine, by name
 * @param gpus of the machine, from the process that looks after them
 * @param verifiers of this process
 * @param actors of this process
 * @param heldTurns of this process, one for each thing that turns wait for
 */
public record JvmReport(
    String jvm,
    String role,
    String node,
    Map<String, Double> gauges,
    List<GpuReport> gpus,
    List<VerifierReport> verifiers,
    List<ActorRow> actors,
    List<TurnReport> heldTurns) {
  /**
   * An accelerator.
   *
   * @param usedBytes of its memory; 0 where the driver does not say
   * @param utilisation percent; -1 where the driver does not say
   * @param state {@code ours}, {@code idle}: ours and not computing, {@code free}, {@code foreign},
   *     {@code zombie}: held by what a former agent left, or {@code virtual}
   * @param whose owner of the GPU, as text; "" if no process has it
   */
  public record GpuReport(
      int index,
      String name,
      long memoryBytes,
      long usedBytes,
      int utilisation,
      String state,
      String whose) {}

  /**
   * A verifier.
   *
   * @param name as orders call it: with the process before it, unless that is the coordinator
   * @param pool kind of the pool
   * @param doing {@code idle}, {@code judging} or {@code quarantined}
   * @param judged completions it has judged
   */
  public record VerifierReport(String name, String pool, String doing, long judged) {}

  /**
   * Turns that wait for the same, which is not the policy.
   *
   * @param on the tool, environment or agent
   * @param turns that wait for it
   * @param who the episode of the one that has waited longest
   * @param since time since which the longest turn has waited, in milliseconds since 1970
   */
  public record TurnReport(String on, int turns, String who, long since) {
    /** Returns the sum of the turns of two processes. */
    public TurnReport and(TurnReport other) {
      TurnReport longer = since <= other.since ? this : other;
      return new TurnReport(on, turns + other.turns, longer.who, longer.since);
    }
  }

  public JvmReport {
    gauges = Map.copyOf(gauges);
    gpus = List.copyOf(gpus);
    verifiers = List.copyOf(verifiers);
    actors = List.copyOf(actors);
    heldTurns = List.copyOf(heldTurns);
  }
}
