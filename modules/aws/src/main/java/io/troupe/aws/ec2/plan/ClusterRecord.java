package io.troupe.aws.ec2.plan;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The record of a cluster that a command needs after a crash. It is written before each launch is
 * sent and after each answer, so that a launch whose answer was lost is sent again with its own
 * token.
 *
 * @param nonce distinguishes this cluster from others of its name
 * @param launches sent so far; makes tokens
 * @param offer index of the pair of machine and subnet that is tried next
 * @param pending a launch without an answer: none or one
 * @param launched instances by id that a launch answered with, and when
 * @param created whether the cluster was once complete
 */
public record ClusterRecord(
    String name,
    String nonce,
    int launches,
    int offer,
    List<LaunchRequest> pending,
    Map<String, Long> launched,
    boolean created) {
  public ClusterRecord {
    pending = List.copyOf(pending);
    launched = Map.copyOf(launched);
  }

  /** A cluster that nothing was asked for yet. */
  public static ClusterRecord fresh(String name, String nonce) {
    return new ClusterRecord(name, nonce, 0, 0, List.of(), Map.of(), false);
  }

  /** The token of the next launch. */
  String nextToken() {
    return "troupe-%s-%d".formatted(nonce, launches);
  }

  /** Before a launch is sent. */
  public ClusterRecord sending(LaunchRequest launch) {
    return pending.contains(launch)
        ? this
        : new ClusterRecord(name, nonce, launches + 1, offer, List.of(launch), launched, created);
  }

  /** After a launch was answered with instances. */
  public ClusterRecord launched(List<String> ids, long nowMillis) {
    Map<String, Long> all = new TreeMap<>(launched);
    ids.forEach(id -> all.put(id, nowMillis));
    return new ClusterRecord(name, nonce, launches, offer, List.of(), all, created);
  }

  /** Notes that a launch was refused for certain; the next launch may try another offer. */
  public ClusterRecord refused(boolean nextOffer) {
    int next = nextOffer ? offer + 1 : offer;
    return new ClusterRecord(name, nonce, launches, next, List.of(), launched, created);
  }

  /** Notes that all offers may be tried again. */
  public ClusterRecord fromFirstOffer() {
    return new ClusterRecord(name, nonce, launches, 0, pending, launched, created);
  }

  /** The cluster is complete. */
  public ClusterRecord complete() {
    return new ClusterRecord(name, nonce, launches, 0, pending, launched, true);
  }
}
