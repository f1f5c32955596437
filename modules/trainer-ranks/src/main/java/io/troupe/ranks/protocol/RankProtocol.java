package io.troupe.ranks.protocol;

import io.troupe.engine.parallel.PartialStepMetrics;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.train.OptimizerSettings;
import java.util.List;

/**
 * What the coordinator and a rank's process say to each other. Each order has one answer; while a
 * rank obeys one, it gives signs of life.
 */
public sealed interface RankProtocol {
  /** An order of the coordinator. */
  sealed interface Order extends RankProtocol {}

  /** An answer of a rank. */
  sealed interface Answer extends RankProtocol {}

  /** A rank obeys its order, and is not done. */
  record Heartbeat() implements RankProtocol {}

  /** A rank has its gradient, or has joined its neighbours; it continues when it is told to. */
  record Ready() implements RankProtocol {}

  /** A rank that begins cannot join the one at this place, and waits for the verdict. */
  record PeerMissed(int place, String reason) implements RankProtocol {}

  /** What a rank that is ready, or begins, receives once. */
  sealed interface Verdict extends RankProtocol {}

  /** All are ready: exchange. */
  record Proceed() implements Verdict {}

  /** What they do is abandoned: the rank at this place is lost. */
  record Abort(int place, String reason) implements Verdict {}

  /** What a process receives whose number another one has: it must end. */
  record Evicted(String reason) implements RankProtocol {}

  /**
   * The first thing a rank says.
   *
   * @param rank number, from 0
   * @param node whose agent started it; empty if the coordinator did
   * @param process name of it there
   */
  record Report(int rank, String node, String process, long pid) implements RankProtocol {}

  /** Leave the group, and listen for a new one. */
  record Listen() implements Order {}

  /**
   * Join the group, and begin.
   *
   * @param place in the group, from 0
   * @param addresses where each of the group listens, in the order of their places
   * @param folder with what the trainer has saved, on the rank's host
   */
  record JoinGroup(int place, List<String> addresses, String folder) implements Order {}

  /**
   * Say whether the folder is there, as it is for the coordinator.
   *
   * @param mark name of a file in it, which is there for this question
   */
  record FindFolder(String folder, String mark) implements Order {}

  /**
   * Write the piece of the state into files.
   *
   * @param folder of the files, which this host has
   * @param names of the files, relative to the folder
   */
  record WriteState(String folder, List<String> names, List<StatePart> parts, boolean durable)
      implements Order {}

  /**
   * Send the piece of the state: ranges, or of a version in bfloat16 what changed since another
   * one.
   */
  record SendState(List<StatePart> parts, VersionMarks marks) implements Order {}

  /** Freeze the weights as the reference policy. */
  record FreezeReference() implements Order {}

  /** Take what the trainer has saved: these files, which follow as bytes, in this order. */
  record ReceiveState(List<String> files) implements Order {}

  /**
   * Make a step with the others, and keep copies of the state after it.
   *
   * @param mark of these copies; no other attempt at a step has it
   */
  record Step(RankBatch batch, OptimizerSettings optimisation, long mark) implements Order {}

  /** Say which copies are kept. */
  record ListCopies() implements Order {}

  /** Take the state of the last common step from copies. */
  record TakeCopies(CopyPlan plan) implements Order {}

  /** The rank listens. */
  record Listening(String address) implements Answer {}

  /** The rank has stored the files in this folder. */
  record StateReceived(String folder) implements Answer {}

  /** Whether the rank sees the folder. */
  record FolderFound(boolean there) implements Answer {}

  /** A range of a tensor that it was asked to send; the bytes follow. */
  record StateRange(String tensor, long from) implements RankProtocol {}

  /**
   * A range of a tensor of a version, of which the changes follow.
   *
   * @param length of the range in bytes
   * @param crc32c of the range, and {@code crc32}: {@link io.troupe.weights.cache.ChunkSums}
   */
  record ChangedRange(String tensor, long from, int length, int crc32c, int crc32)
      implements RankProtocol {}

  /** The rank has written or sent its piece. */
  record StateWritten() implements Answer {}

  /** The reference is frozen. */
  record ReferenceFrozen() implements Answer {}

  /** The rank has begun. */
  record GroupJoined() implements Answer {}

  /** The rank's piece of the state has moved. */
  record StepDone(double norm, PartialStepMetrics part) implements Answer {}

  /** No rank's weights moved; why this one has no gradient, if it has none. */
  record Refused(String reason) implements Answer {}

  /** The copies that it keeps. */
  record CopiesListed(List<CopyPlan.Held> copies) implements Answer {}

  /** The rank has the state of that step. */
  record CopiesTaken() implements Answer {}

  /** Another one of the group is lost. */
  record PeerLost(int place, String reason) implements Answer {}

  /** The rank failed at the order, by its own fault. */
  record Failed(String reason) implements Answer {}
}
